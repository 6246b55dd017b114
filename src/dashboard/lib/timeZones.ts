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
 * Lists the zones to choose from, by their names of today: the chosen one, by the name that it has, and the reader's own first. Names of the same zone are one entry,
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
    if (!names.has(name)) names.set(name, zone === chosen ? zone : nameZoneOfToday(zone));
  }
  return [...names.values()];
}

/** The names of today for those that browsers still have (CLDR keeps the first name that it had; IANA's file `backward`). */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** Returns the name of today for a zone; its own one where the browser does not know that yet. */
export function nameZoneOfToday(zone: string): string {
  const renamed = RENAMED[zone];
  return renamed && findZoneName(renamed) === findZoneName(zone) ? renamed : zone;
}

const OLD_NAMES: ReadonlyMap<string, string> = new Map(Object.entries(RENAMED).map(([old, name]) => [name, old]));
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s_]+/g, ' ')
    .trim();

/** Whether a zone is one that a text looks for: by a part of its name, or of the one that it had. */
export function matchesZone(zone: string, text: string): boolean {
  const wanted = plain(text);
  return [zone, OLD_NAMES.get(zone) ?? ''].some((name) => plain(name).includes(wanted));
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC, in milliseconds, to the second. */
export function findOffsetMs(timeZone: string, at: Date): number {
  const known = clocks.get(timeZone);
  const clock =
    known ??
    new Intl.DateTimeFormat('en', {
      timeZone,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      hourCycle: 'h23',
    });
  if (!known) clocks.set(timeZone, clock);
  const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day, hour, minute, second } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at.getTime() / 1000) * 1000;
}
