/** Formats how long something has been so, as kubectl does. Pure: no I/O, no clock. */

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

/** Two units at most: `42s`, `5m10s`, `3h20m`, `2d5h`, `40d`. A time ahead is `0s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const pair = (big: number, [first, second]: [string, string], small: number) => {
    const rest = Math.floor((seconds % big) / small);
    return `${Math.floor(seconds / big)}${first}${rest > 0 ? `${rest}${second}` : ''}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(MINUTE, ['m', 's'], 1);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(HOUR, ['h', 'm'], MINUTE);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  return seconds < 8 * DAY ? pair(DAY, ['d', 'h'], HOUR) : `${Math.floor(seconds / DAY)}d`;
}

/** `time` is RFC 3339; empty without a time that can be read. */
export function formatAge(time: string | undefined, now: Date): string {
  const ms = now.getTime() - Date.parse(time ?? '');
  return Number.isNaN(ms) ? '' : formatDuration(ms);
}
