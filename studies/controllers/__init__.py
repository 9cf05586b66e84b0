"""A flow's first packet by OpenFlow controller: what the MTU study's future work asks of OpenFlow equipment."""
