-- What schema version 2 left behind: run 1 finished, run 2 killed in the middle. Written by the release of that schema.

INSERT INTO meta (key, value) VALUES ('lease_token', '4');
INSERT INTO crawl (id, name) VALUES (1, 'old');
INSERT INTO config (hash, toml) VALUES ('baeb63a5c1fb80cd43ba72fcf39ed674', 'seeds = ["http://site.test/"]
name = "old"
store = "old.db"
output = "out"
formats = ["jsonl"]
language = "en"
revisit = false

[scope]
mode = "same-host"
ignore_port = false
ignore_scheme = true
follow_redirected_seed = true
aliases = []
www_equivalent = false
alternative_suffixes = []
domains = "psl"
strict = false
judge_against = "any-seed"
only_seeds = false

[domains]
generic = ["aero", "asia", "biz", "cat", "com", "coop", "edu", "gov", "info", "int", "jobs", "mil", "mobi", "museum", "name", "net", "org", "pro", "tel", "travel"]
additional = []

[filter]
rules = []
rules_file = ""
apply_to_seeds = false
include = []
exclude = []
unsafe_patterns = false

[normalise]
collapse_slashes = false
session_ids = true
sort_parameters = false
drop_parameters = []
apply_to_seeds = false
loops = 1

[limits]
# max_depth: no limit
# max_pages: no limit
# max_seconds: no limit
# max_targets: no limit
max_redirects = 10
max_url_length = 8192
# threshold: no threshold
# pages_per_host: no limit
repeated_segment = 3

[traps]
detect = true
allow = []
same_text = 300
years_ahead = 5
first_year = 1600
chain = 1000
max_segments = 32
max_parameters = 50
hosts_per_domain = 5000
soft_404 = false

[fetch]
user_agent = ""
connect_timeout_seconds = 10.0
timeout_seconds = 30.0
low_speed_bytes = 10
low_speed_seconds = 15.0
page_bytes = 10485760
sitemap_bytes = 52428800
robots_bytes = 512000
header_bytes = 131072
classes = ["HTML", "PDF", "OFFICE", "TEXT"]
head_first = false
http2 = true
proxy = ""
proxy_from_environment = false
ca_file = ""
cookies = true
allow_addresses = []
accept_language = ""

[politeness]
# delay: 0.25 s; none on loopback
# connections: 1; 8 on loopback
adaptive = true
group = "host"
max_crawl_delay = 30.0
max_hosts = 64
retries = 2
retry_seconds = 5.0
max_backoff_seconds = 30.0
max_retry_after_seconds = 900.0
give_up_after = 20

[robots]
obey = true
agent = "purlieu"
allow_403 = true
tries = 3
within_seconds = 600.0
max_age_seconds = 86400.0

[links]
obey_nofollow = true
kinds = ["a", "area", "frame", "iframe", "next", "prev", "alternate", "refresh"]
canonical = true

[sitemap]
mode = "links-and-sitemaps"
use = true
files = []
guess = false
location = "by-discovery"
strict = false

[history]
least_interval_seconds = 86400.0
most_interval_seconds = 2592000.0
trust_sitemaps = true
sample = 0.02
gone_after = 3
retire_after = 8

[ledger]
refusals_per_host = 10000
near_duplicates = false

[retention]
# ledger_runs: of all
result_days = 60

[after]
command = []
webhook = ""
timeout_seconds = 60.0
');
INSERT INTO run (id, crawl, config, version, state, stop_reason, stop_requested, started_at, ended_at, active_seconds, counters, books, revisit, active_from, pruned_at, totals) VALUES (1, 1, 'baeb63a5c1fb80cd43ba72fcf39ed674', '0.1.0', 'done', 'finished', 0, 1767225600.0, 1767225615.75, 15.75, '{"admitted": 15, "refused": 1, "promoted": 0, "unlisted": 1, "requests": 16, "bytes": 1313, "pages_asked": 12, "sampled": 0, "missed": 0, "endings": {"fetched.ok": 11, "missing.not_found": 1, "redirected.permanent": 1, "excluded.robots": 1, "server_error.5xx": 1}}', '{"added": {"admitted": 15, "refused": 1, "unlisted": 1}, "balanced": true, "ended": {"excluded.robots": 1, "fetched.ok": 11, "missing.not_found": 1, "redirected.permanent": 1, "server_error.5xx": 1}, "faults": [], "scan": {"attempts": 16, "entries": 15, "refusals": 1, "requests": 16, "unlisted": 1}}', 0, 1767225584.25, NULL, '[["page","excluded","robots",1],["page","excluded","scope",1],["page","fetched","ok",9],["page","missing","not_found",1],["page","redirected","permanent",1],["page","server_error","5xx",1],["robots","fetched","ok",1],["sitemap","fetched","ok",1]]');
INSERT INTO run (id, crawl, config, version, state, stop_reason, stop_requested, started_at, ended_at, active_seconds, counters, books, revisit, active_from, pruned_at, totals) VALUES (2, 1, 'baeb63a5c1fb80cd43ba72fcf39ed674', '0.1.0', 'running', NULL, 0, 1767225600.0, NULL, 4.85, '{"admitted": 11, "refused": 1, "promoted": 0, "unlisted": 1, "requests": 6, "bytes": 680, "pages_asked": 4, "sampled": 0, "missed": 0, "endings": {"fetched.ok": 4, "missing.not_found": 1}}', NULL, 0, 1767225600.0, NULL, NULL);
INSERT INTO host (id, name, next_at, smoothed_seconds, backoff_seconds, gap_seconds, member_of) VALUES (1, 'site.test', 1767225602.0, 0.0, 0.0, 0.25, NULL);
INSERT INTO host (id, name, next_at, smoothed_seconds, backoff_seconds, gap_seconds, member_of) VALUES (2, 'other.test', 0.0, 0.0, 0.0, 0.0, NULL);
INSERT INTO lease (host, token, run, expires_at) VALUES (1, 4, 2, 1767225662.0);
INSERT INTO run_host (run, host, due_at, pages, refused, requests, failures, failures_in_a_row, seconds, bytes, given_up) VALUES (1, 1, NULL, 13, 0, 16, 3, 2, 0.0, 1313, 0);
INSERT INTO run_host (run, host, due_at, pages, refused, requests, failures, failures_in_a_row, seconds, bytes, given_up) VALUES (1, 2, NULL, 0, 1, 0, 0, 0, 0.0, 0, 0);
INSERT INTO run_host (run, host, due_at, pages, refused, requests, failures, failures_in_a_row, seconds, bytes, given_up) VALUES (2, 1, 1767225602.0, 9, 0, 6, 1, 0, 0.0, 680, 0);
INSERT INTO run_host (run, host, due_at, pages, refused, requests, failures, failures_in_a_row, seconds, bytes, given_up) VALUES (2, 2, NULL, 0, 1, 0, 0, 0, 0.0, 0, 0);
INSERT INTO conduct (run, host, rule, gap_seconds, rest_seconds, connections, least_gap, least_rest, least_slack, most_connections, retry_afters, longest_retry_after, least_retry_slack, most_backoff, robots_retries, given_up, grouped) VALUES (1, 1, 'back-off', 1.0, 1.0, 1, 0.25, 0.25, 0.0, 1, 0, NULL, NULL, 2.0, 0, '', '');
INSERT INTO conduct (run, host, rule, gap_seconds, rest_seconds, connections, least_gap, least_rest, least_slack, most_connections, retry_afters, longest_retry_after, least_retry_slack, most_backoff, robots_retries, given_up, grouped) VALUES (2, 1, 'default', 0.25, 0.25, 1, 0.25, 0.25, 0.0, 1, 0, NULL, NULL, 1.0, 0, '', '');
INSERT INTO robots (id, run, host, origin, state, body, source, fetched_at, first_failed_at, ended) VALUES (1, 1, 1, 'http://site.test', 'known', x'557365722d6167656e743a202a0a446973616c6c6f773a202f7365637265740a536974656d61703a20687474703a2f2f736974652e746573742f736974656d61702e786d6c0a', 'http://site.test/robots.txt', 1767225600.0, NULL, NULL);
INSERT INTO robots (id, run, host, origin, state, body, source, fetched_at, first_failed_at, ended) VALUES (2, 2, 1, 'http://site.test', 'known', x'557365722d6167656e743a202a0a446973616c6c6f773a202f7365637265740a536974656d61703a20687474703a2f2f736974652e746573742f736974656d61702e786d6c0a', 'http://site.test/robots.txt', 1767225602.0, NULL, NULL);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -8777414166596143264, 'http://site.test/flaky', 1, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', NULL, 3, 'server_error', '5xx', NULL, 503, NULL, 1767225615.75, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -8541952630690653570, 'http://site.test/b', 1, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225601.75, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -7340262855401934736, 'http://site.test/f', 1, 3, 0, 0, 'link', 'http://site.test/d', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225603.5, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -6938790621012180107, 'http://site.test/only-sitemap', 1, 1, 0, 0, 'sitemap', 'http://site.test/sitemap.xml', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225602.75, 2);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -6912097677351613053, 'http://site.test/d', 1, 2, 0, 0, 'link', 'http://site.test/b', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225603.0, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -5756755889893778512, 'http://site.test/missing', 1, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', NULL, 1, 'missing', 'not_found', NULL, 404, NULL, 1767225602.0, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -5286682787216379264, 'http://site.test/', 1, 0, 0, 0, 'seed', '', 1, 'seed', 0, 'seed', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225600.25, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -2970416954620274587, 'http://site.test/a', 1, 1, 0, 0, 'sitemap', 'http://site.test/sitemap.xml', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225602.25, 2);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -1961955732401731152, 'http://site.test/c', 1, 2, 0, 0, 'link', 'http://site.test/a', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225603.25, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, -171115705076384320, 'http://site.test/old', 1, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', NULL, 1, 'redirected', 'permanent', NULL, 301, 'http://site.test/a', 1767225602.5, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, 172443165523258400, 'http://site.test/secret', 1, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'robots:2', NULL, 0, 'excluded', 'robots', NULL, NULL, NULL, 1767225602.5, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, 4820895080215952293, 'http://site.test/e', 1, 3, 0, 0, 'link', 'http://site.test/c', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225603.75, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 0, 7645880550680593947, 'http://site.test/g', 1, 4, 0, 0, 'link', 'http://site.test/e', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225604.0, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 1, -4052080433749369330, 'http://site.test/robots.txt', 1, 0, 0, 0, 'robots', '', 0, 'robots', NULL, 'robots', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225600.0, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (1, 1, 2, 799857291951071896, 'http://site.test/sitemap.xml', 1, 0, 0, 0, 'robots', 'http://site.test/robots.txt', 0, 'named-sitemap', NULL, 'named-sitemap', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225600.5, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -8777414166596143264, 'http://site.test/flaky', 2, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', 1767225608.5, 1, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -8541952630690653570, 'http://site.test/b', 2, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225604.5, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -6938790621012180107, 'http://site.test/only-sitemap', 2, 1, 0, 0, 'sitemap', 'http://site.test/sitemap.xml', 1, '', 0, 'same-host', 1767223803.35, 0, NULL, NULL, NULL, NULL, NULL, NULL, 2);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -6912097677351613053, 'http://site.test/d', 2, 2, 0, 0, 'link', 'http://site.test/b', 1, '', 0, 'same-host', 1767225604.6, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -5756755889893778512, 'http://site.test/missing', 2, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', NULL, 1, 'missing', 'not_found', NULL, 404, NULL, 1767225604.75, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -5286682787216379264, 'http://site.test/', 2, 0, 0, 0, 'seed', '', 1, 'seed', 0, 'seed', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225603.0, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -2970416954620274587, 'http://site.test/a', 2, 1, 0, 0, 'sitemap', 'http://site.test/sitemap.xml', 1, '', 0, 'same-host', 1767223803.1, 0, NULL, NULL, NULL, NULL, NULL, NULL, 2);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, -171115705076384320, 'http://site.test/old', 2, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', 1767225603.1, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 0, 172443165523258400, 'http://site.test/secret', 2, 1, 0, 0, 'link', 'http://site.test/', 1, '', 0, 'same-host', 1767225603.1, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 1, -4052080433749369330, 'http://site.test/robots.txt', 2, 0, 0, 0, 'robots', '', 0, 'robots', NULL, 'robots', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225602.0, 1);
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at, attempts, kind, reason, detail, status, redirect_to, ended_at, standing) VALUES (2, 1, 2, 799857291951071896, 'http://site.test/sitemap.xml', 2, 0, 0, 0, 'robots', 'http://site.test/robots.txt', 0, 'named-sitemap', NULL, 'named-sitemap', NULL, 1, 'fetched', 'ok', NULL, 200, NULL, 1767225603.25, 1);
INSERT INTO landing (run, seed, href) VALUES (1, 'http://site.test/', 'http://site.test/');
INSERT INTO landing (run, seed, href) VALUES (2, 'http://site.test/', 'http://site.test/');
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -8777414166596143264, 503, '', NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 0, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -8541952630690653570, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, 'noindex', NULL, NULL, '661d516e6097249f', '203.0.113.7', 0.0, 131, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -7340262855401934736, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '491de3aee158f600', '203.0.113.7', 0.0, 75, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -6938790621012180107, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '661d516e6097249f', '203.0.113.7', 0.0, 93, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -6912097677351613053, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '661d516e6097249f', '203.0.113.7', 0.0, 93, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -5756755889893778512, 404, '', NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 0, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -5286682787216379264, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, 'e7ced0732abb6ced', '203.0.113.7', 0.0, 269, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -2970416954620274587, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '9b1835a07b04c82f', '203.0.113.7', 0.0, 111, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -1961955732401731152, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '661d516e6097249f', '203.0.113.7', 0.0, 93, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, -171115705076384320, 301, 'Location: /a
', NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 0, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, 4820895080215952293, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '661d516e6097249f', '203.0.113.7', 0.0, 93, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 0, 7645880550680593947, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, '491de3aee158f600', '203.0.113.7', 0.0, 75, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 1, -4052080433749369330, 200, 'Content-Type: text/plain; charset=utf-8
', 'text/plain; charset=utf-8', NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 70, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (1, 1, 2, 799857291951071896, 200, 'Content-Type: application/xml
', 'application/xml', NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 210, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (2, 1, 0, -8541952630690653570, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, 'noindex', NULL, NULL, '661d516e6097249f', '203.0.113.7', 0.0, 131, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (2, 1, 0, -5756755889893778512, 404, '', NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 0, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (2, 1, 0, -5286682787216379264, 200, 'Content-Type: text/html; charset=utf-8
', 'text/html; charset=utf-8', 't', NULL, NULL, '', NULL, NULL, 'e7ced0732abb6ced', '203.0.113.7', 0.0, 269, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (2, 1, 1, -4052080433749369330, 200, 'Content-Type: text/plain; charset=utf-8
', 'text/plain; charset=utf-8', NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 70, 0.0);
INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason, last_modified, etag, digest, address, fetched_at, bytes, seconds) VALUES (2, 1, 2, 799857291951071896, 200, 'Content-Type: application/xml
', 'application/xml', NULL, NULL, NULL, '', NULL, NULL, NULL, '203.0.113.7', 0.0, 210, 0.0);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -8777414166596143264, 'http://site.test/flaky', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, NULL, NULL, 1, NULL, 'server_error', '5xx', 1, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -8541952630690653570, 'http://site.test/b', 1767225600.0, 1767225604.5, 1767225600.0, 2, 0, NULL, NULL, '661d516e6097249f', 129600.0, 2, x'78014bcc282929b0d2d72fce2c49d52b492d2ed14f0100460106f0', 'fetched', 'ok', 1, 2, 1767225604.5, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -7340262855401934736, 'http://site.test/f', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '491de3aee158f600', 86400.0, 1, NULL, 'fetched', 'ok', 3, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -6938790621012180107, 'http://site.test/only-sitemap', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '661d516e6097249f', 86400.0, 1, x'78014bcc282929b0d2d72fce2c49d52b492d2ed14f040045fe06ed', 'fetched', 'ok', 1, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -6912097677351613053, 'http://site.test/d', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '661d516e6097249f', 86400.0, 1, x'78014bcc282929b0d2d72fce2c49d52b492d2ed14f0300460306f2', 'fetched', 'ok', 2, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -5756755889893778512, 'http://site.test/missing', 1767225600.0, 1767225600.0, 1767225600.0, 2, 0, NULL, NULL, NULL, NULL, 1, NULL, 'missing', 'not_found', 1, 2, 1767225604.75, 2, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -5286682787216379264, 'http://site.test/', 1767225600.0, 1767225603.0, 1767225600.0, 2, 0, NULL, NULL, 'e7ced0732abb6ced', 129600.0, 2, x'78016dce311280200c05d19ec3484fe555a246c918c421bfc0db5b384363dab7cd5206ee14a30978021b2205fad9e258d5cd51e3b5319c50c44caec329bbd2f90cafc8dcbe931ea890286aeaf3f87b010523400e', 'fetched', 'ok', 0, 2, 1767225603.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -2970416954620274587, 'http://site.test/a', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '9b1835a07b04c82f', 86400.0, 1, x'78014bcc282929b0d2d72fce2c49d52b492d2ed14fe24ac4104b0600175b0de6', 'fetched', 'ok', 1, 1, 1767225599.0, 0, 0, 0, '2025-12-01', NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -1961955732401731152, 'http://site.test/c', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '661d516e6097249f', 86400.0, 1, x'78014bcc282929b0d2d72fce2c49d52b492d2ed14f0500460206f1', 'fetched', 'ok', 2, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, -171115705076384320, 'http://site.test/old', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, NULL, NULL, 1, NULL, 'redirected', 'permanent', 1, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, 4820895080215952293, 'http://site.test/e', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '661d516e6097249f', 86400.0, 1, x'78014bcc282929b0d2d72fce2c49d52b492d2ed14f0700460406f3', 'fetched', 'ok', 3, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest, interval_seconds, last_run, outlinks, kind, reason, depth, seen_run, asked_at, gone_runs, missed_runs, retired, lastmod, alternates) VALUES (1, 1, 7645880550680593947, 'http://site.test/g', 1767225600.0, 1767225600.0, 1767225600.0, 1, 0, NULL, NULL, '491de3aee158f600', 86400.0, 1, NULL, 'fetched', 'ok', 4, 1, 1767225599.0, 0, 0, 0, NULL, NULL);
INSERT INTO sitemap_file (crawl, host, hash, href, index_lastmod, etag, last_modified, digest, asked_at, last_run) VALUES (1, 1, 799857291951071896, 'http://site.test/sitemap.xml', NULL, NULL, NULL, 'e241d492e212988d', 1767225603.25, 2);
INSERT INTO sitemap_read (run, host, hash, href, kind, entries, children, problems) VALUES (1, 1, 799857291951071896, 'http://site.test/sitemap.xml', 'urlset', 2, 0, '[]');
INSERT INTO sitemap_read (run, host, hash, href, kind, entries, children, problems) VALUES (2, 1, 799857291951071896, 'http://site.test/sitemap.xml', 'urlset', 2, 0, '[]');
INSERT INTO sitemap_namer (run, host, hash, namer) VALUES (1, 1, 799857291951071896, 'robots:site.test');
INSERT INTO sitemap_namer (run, host, hash, namer) VALUES (2, 1, 799857291951071896, 'robots:site.test');
INSERT INTO refusal (run, host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, rule, standing) VALUES (1, 2, 0, 3684084329459736951, 'http://other.test/x', 1, 0, 0, 'link', 'http://site.test/', 1, '', '', 'scope', 'out-of-scope:other.test', 1);
INSERT INTO refusal (run, host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, rule, standing) VALUES (2, 2, 0, 3684084329459736951, 'http://other.test/x', 1, 0, 0, 'link', 'http://site.test/', 1, '', '', 'scope', 'out-of-scope:other.test', 1);
INSERT INTO refusal_count (run, host, reason, rule, count) VALUES (1, 0, 'scheme', 'mailto', 1);
INSERT INTO refusal_count (run, host, reason, rule, count) VALUES (2, 0, 'scheme', 'mailto', 1);
INSERT INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority, misplaced) VALUES (1, 1, -6938790621012180107, 'http://site.test/sitemap.xml', 'http://site.test/only-sitemap', NULL, NULL, 0.5, 0);
INSERT INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority, misplaced) VALUES (1, 1, -2970416954620274587, 'http://site.test/sitemap.xml', 'http://site.test/a', '2025-12-01', NULL, 0.5, 0);
INSERT INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority, misplaced) VALUES (2, 1, -6938790621012180107, 'http://site.test/sitemap.xml', 'http://site.test/only-sitemap', NULL, NULL, 0.5, 0);
INSERT INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority, misplaced) VALUES (2, 1, -2970416954620274587, 'http://site.test/sitemap.xml', 'http://site.test/a', '2025-12-01', NULL, 0.5, 0);
INSERT INTO schedule (id, crawl, cron, created_at, zone, config, grace_seconds, handled_at, removed_at) VALUES (1, 1, '0 3 * * *', 1796057367.6206832, 'UTC', NULL, 3600.0, 1796057367.6206832, NULL);
