"""For tests of ours and of owners: a made web, a made clock, sites that misbehave."""
