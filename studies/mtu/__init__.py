"""The study of packet size in SDN (2016): its runs, claims and page."""
