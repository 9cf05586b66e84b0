"""The study of multimedia delivery over SDN (2015): its runs, claims and page."""
