/**
 * Writes what is known of the viewers of each destination that is watched, when Prometheus asks. No account, no name that people gave.
 * Pure: no I/O, no clock.
 */
import { toPascalCase } from '../../lib/codes/code-text.ts';
import { SEEN } from '../../lib/codes/platforms.ts';
import { type PlatformView, readPlatformView } from '../../resources/destination/platform.ts';
import type { Destination } from '../../resources/destination/resource.ts';

const LABELS = ['namespace', 'destination'];
export const PLATFORM_METRICS = [
  {
    name: 'loopstream_destination_platform_live',
    type: 'gauge',
    help: '1 for the current answer (true, false, unknown) to whether viewers see what a destination is sent, with its reason.',
    labels: [...LABELS, 'status', 'reason'],
  },
  {
    name: 'loopstream_destination_platform_checked_at',
    type: 'gauge',
    help: 'Time of the last look at what viewers of a destination see, in seconds since 1970.',
    labels: LABELS,
  },
  {
    name: 'loopstream_destination_viewers',
    type: 'gauge',
    help: 'People who watch at a destination, as far as its platform tells.',
    labels: LABELS,
  },
] as const;

/** Each with the labels behind those of the destination, and the value; undefined where there is none. */
const READERS: readonly ((view: PlatformView) => [labels: string, value: number | undefined])[] = [
  ({ status, reason }) => [
    `,status="${status.toLowerCase()}",reason="${reason === undefined ? SEEN : toPascalCase(reason)}"`,
    1,
  ],
  ({ checkedAt }) => ['', checkedAt === undefined ? undefined : Date.parse(checkedAt) / 1000],
  ({ viewers }) => ['', viewers],
];

/** In Prometheus' text format (version 0.0.4). */
export function buildPlatformSeries(destinations: readonly Destination[], now: Date): string {
  const watched = destinations.flatMap((one) => {
    const view = readPlatformView(one, now);
    const { namespace = '', name } = one.metadata;
    return view ? [{ labels: `namespace="${namespace}",destination="${name}"`, view }] : [];
  });
  return PLATFORM_METRICS.map(({ name, type, help }, i) => {
    const lines = watched.map(({ labels, view }) => {
      const [more, value] = READERS[i]?.(view) ?? [];
      return value === undefined ? '' : `${name}{${labels}${more}} ${value}\n`;
    });
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
  }).join('');
}
