"""The description of the API for programs (OpenAPI 3.1), made from the code and the reference."""
