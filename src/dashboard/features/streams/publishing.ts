/** Puts into words how a destination gets the stream, beside what platforms ask for. Pure: no I/O, no clock. */
import type { LiveStats } from '../../api/api.ts';
import { formatBitrate, formatPercent } from '../../lib/format.ts';

/** YouTube shows a warning beyond it; others ask for two seconds. */
const MOST_KEYFRAME_SECONDS = 4;
/** Below this a buffer runs dry; rates of a minute are never exact. */
const LEAST_SHARE = 0.95;

interface PublishingFact {
  text: string;
  /** The value that the platform asks for. */
  wanted?: string;
  isBad: boolean;
}

type Sent = Pick<LiveStats['destinations'][number], 'bitrateKbps' | 'leastBitrateKbps' | 'pace'>;

/** The facts of the last minute that are known: none while too little was measured. */
export function listPublishingFacts(
  { bitrateKbps, leastBitrateKbps, pace }: Sent,
  keyframeSeconds: number | null,
): PublishingFact[] {
  if (bitrateKbps === null) return [];
  const bitrate = {
    text: formatBitrate(bitrateKbps),
    ...(leastBitrateKbps !== null && { wanted: `at least ${formatBitrate(leastBitrateKbps)}` }),
    isBad: bitrateKbps < (leastBitrateKbps ?? 0) * LEAST_SHARE,
  };
  const keyframes = keyframeSeconds !== null && {
    text: `a keyframe every ${Math.round(keyframeSeconds * 10) / 10} s`,
    wanted: `at most ${MOST_KEYFRAME_SECONDS} s`,
    isBad: keyframeSeconds > MOST_KEYFRAME_SECONDS,
  };
  const isSlow = pace !== null && pace < LEAST_SHARE;
  const speed = pace !== null && {
    text: isSlow ? `${formatPercent(pace * 100)} of its speed` : 'at full speed',
    isBad: isSlow,
  };
  return [bitrate, keyframes, speed].filter((fact) => fact !== false);
}
