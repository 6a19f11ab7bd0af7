"""Remember: every URL of every run, its history, hosts and leases."""
