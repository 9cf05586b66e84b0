"""The kernel's configuration interface (rtnetlink, RFC 3549) for what a lab needs: links, addresses, routes, qdiscs."""
