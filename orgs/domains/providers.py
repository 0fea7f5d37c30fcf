"""Who hosts a zone, by the names of its name servers, and what to enter there."""

from collections.abc import Iterable
from typing import NamedTuple


class Provider(NamedTuple):
    """A DNS provider, and what its form calls the name of a record.

    All of these append the zone to the name. `note`: what else differs there.
    """

    title: str
    field: str = "Name"
    note: str = ""


class Entry(NamedTuple):
    """What to enter at a provider: the fields of `Provider`, and the name without the zone."""

    title: str
    field: str
    note: str
    name: str

    @property
    def advice(self) -> str:
        """The same as a sentence or two."""
        return f"At {self.title}, enter `{self.name}` as {self.field}. {self.note}".strip()


PROVIDERS = {  # by the end of its name servers' names
    "cloudflare.com": Provider("Cloudflare"),
    "awsdns.com": Provider(
        "Route 53", "Record name", "Put the value in double quotation marks there."
    ),
    "domaincontrol.com": Provider("GoDaddy"),
    "registrar-servers.com": Provider("Namecheap", "Host"),
    "googledomains.com": Provider("Google Cloud DNS or Squarespace"),
    "squarespacedns.com": Provider("Squarespace", "Host"),
    "digitalocean.com": Provider("DigitalOcean", "Hostname"),
    "gandi.net": Provider("Gandi"),
    "ovh.net": Provider("OVHcloud", "Sub-domain"),
    "ovh.ca": Provider("OVHcloud", "Sub-domain"),
    "anycast.me": Provider("OVHcloud", "Sub-domain"),
    "hetzner.com": Provider("Hetzner"),
    "hetzner.de": Provider("Hetzner"),
    "azure-dns.com": Provider("Azure DNS"),
    "vercel-dns.com": Provider("Vercel"),
    "nsone.net": Provider("NS1 or Netlify"),
    "porkbun.com": Provider("Porkbun", "Host"),
    "dnsimple.com": Provider("DNSimple"),
    "linode.com": Provider("Akamai (Linode)", "Hostname"),
    "ui-dns.com": Provider("IONOS", "Host name"),
}


def of(name_servers: Iterable[str]) -> Provider | None:
    """The provider of a zone with these name servers, in lower case; None if it is not a known one."""
    return next(filter(None, map(_of_one, name_servers)), None)


def _of_one(name_server: str) -> Provider | None:
    """Route 53 numbers its servers (ns-1.awsdns-01.org), and some providers have several top-level domains."""
    labels = name_server.split(".")
    if any(label.startswith("awsdns-") for label in labels[1:]):
        return PROVIDERS["awsdns.com"]
    *_, domain, top = ["", *labels]
    if domain in ("azure-dns", "ui-dns"):
        return PROVIDERS[f"{domain}.com"]
    return PROVIDERS.get(f"{domain}.{top}")
