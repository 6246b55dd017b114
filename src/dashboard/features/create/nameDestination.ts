/** Names a destination that is made on the way to a stream. Pure: no I/O, no clock. */
import type { Preset } from '../destinations/presets.ts';

/** `YouTube`, or `live.example.com` for a server of one's own; with a number where the account has one of that name. */
export function nameDestination(
  { id, label }: Pick<Preset, 'id' | 'label'>,
  rtmpUrl: string,
  taken: readonly string[],
): string {
  const name = id === 'custom' ? (URL.parse(rtmpUrl)?.hostname ?? '') : label;
  const plain = name || 'My channel';
  const isFree = (one: string) => !taken.includes(one);
  if (isFree(plain)) return plain;
  for (let n = 2; ; n += 1) if (isFree(`${plain} (${n})`)) return `${plain} (${n})`;
}
