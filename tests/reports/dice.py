"""Draws what looks like a secret, when a test runs, so that no scanner trips over these files."""

import base64
import json
import random
import string
import textwrap

ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
LETTERS = string.ascii_letters
LOWER = string.ascii_lowercase
DIGITS = string.digits


class Dice(random.Random):
    def of(self, alphabet: str, length: int) -> str:
        return "".join(self.choices(alphabet, k=length))

    def password(self) -> str:
        """As a person or a generator makes one: never of letters only."""
        return (
            self.choice(["Tr0ub", "kX9", "Sommer", "zebra-7"]) + self.of(ALNUM + "!*-._", 8) + "4"
        )

    def jwt(self) -> str:
        parts = ({"alg": "HS256", "kid": self.of(HEX, 6)}, {"sub": self.of(DIGITS, 9), "exp": 1764})
        texts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
        return ".".join([*(text.rstrip("=") for text in texts), self.of(URL64, 43)])

    def pem(self, label: str) -> str:
        lines = textwrap.wrap("MII" + self.of(BASE64, 400), 64)
        return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])
