/** Knows the ports that browsers, and Node's `fetch`, refuse to open. Pure. */

/** "Bad ports" of the Fetch standard (https://fetch.spec.whatwg.org/#port-blocking): those of other protocols. 0 is any free port here. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

const LAST_PORT = 65_535;

export const isBadPort = (port: number): boolean => BAD_PORTS.has(port);

/** Returns a port near `port` to suggest instead of it: the next one that browsers open and that needs no root. */
export function suggestPort(port: number): number {
  if (port < 1024) return port + 8000;
  if (port >= LAST_PORT) return LAST_PORT - 1;
  let next = port + 1;
  while (isBadPort(next)) next++;
  return next;
}
