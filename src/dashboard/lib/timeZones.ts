/**
 * Time zones as browsers and servers name them. Both have their own list, and one place may have several names: Asia/Kolkata is
 * Asia/Calcutta. Pure: no I/O, no clock.
 */

export const UTC = 'UTC';

/** Returns the name that this browser prefers for a zone; undefined for one that it does not know. */
export function findZoneName(zone: string | undefined): string | undefined {
  try {
    return zone ? new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone : undefined;
  } catch {
    return undefined;
  }
}

/** The reader's own time zone; UTC where the browser has none, such as `Etc/Unknown`, or one that it does not know itself. */
export function findTimeZone(own: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone): string {
  return own && findZoneName(own) ? own : UTC;
}

/**
 * Lists the zones to choose from: the chosen one and the reader's own first, by the names that they have. Names of the same zone are one entry,
 * so the chosen one is always on the list, once.
 */
export function listTimeZones(
  chosen: string,
  own: string = findTimeZone(),
  known: readonly string[] = Intl.supportedValuesOf('timeZone'),
): string[] {
  const names = new Map<string, string>();
  for (const zone of [chosen, own, UTC, ...known]) {
    if (zone === '') continue;
    const name = findZoneName(zone) ?? zone;
    if (!names.has(name)) names.set(name, zone);
  }
  return [...names.values()];
}
