/**
 * How each state of a stream looks and what a person can do in it. Colour never stands alone: every state has its own
 * icon and word.
 * Pure: no I/O, no clock.
 */
import type { Phase } from '../../../core/resources/stream/spec.ts';
import type { Stream } from '../../api/api.ts';

export type PhaseIcon =
  | 'moon'
  | 'calendar'
  | 'hourglass'
  | 'rocket'
  | 'broadcast'
  | 'refresh'
  | 'stopping'
  | 'stopped'
  | 'flag'
  | 'alert'
  | 'unseen';

export interface PhaseLook {
  word: string;
  /** One sentence on what the state means, for the tooltip and the empty player. */
  meaning: string;
  icon: PhaseIcon;
  tone: 'live' | 'busy' | 'attention' | 'danger' | 'planned' | 'quiet';
}

export const PHASE_LOOKS: Record<Phase, PhaseLook> = {
  idle: { word: 'Idle', meaning: 'The stream has never been on air.', icon: 'moon', tone: 'quiet' },
  scheduled: {
    word: 'Scheduled',
    meaning: 'The stream goes on air at its next scheduled time.',
    icon: 'calendar',
    tone: 'planned',
  },
  waiting: {
    word: 'Waiting',
    meaning: 'The stream starts as soon as nothing prevents it.',
    icon: 'hourglass',
    tone: 'attention',
  },
  starting: { word: 'Starting', meaning: 'The stream connects to the destination.', icon: 'rocket', tone: 'busy' },
  live: { word: 'Live', meaning: 'The destination accepts the stream.', icon: 'broadcast', tone: 'live' },
  reconnecting: {
    word: 'Reconnecting',
    meaning: 'The destination is lost. The stream retries until it is back.',
    icon: 'refresh',
    tone: 'attention',
  },
  stopping: { word: 'Stopping', meaning: 'The stream goes off air.', icon: 'stopping', tone: 'busy' },
  stopped: { word: 'Stopped', meaning: 'The stream is off air.', icon: 'stopped', tone: 'quiet' },
  ended: { word: 'Ended', meaning: 'The schedule of the stream has ended.', icon: 'flag', tone: 'quiet' },
  failed: { word: 'Failed', meaning: 'The stream needs a change before it can run.', icon: 'alert', tone: 'danger' },
};

const UNSEEN_LOOK: PhaseLook = {
  word: 'Live, not seen',
  meaning: 'The destination accepts the stream, but viewers do not see it.',
  icon: 'unseen',
  tone: 'danger',
};

/** Whether a stream is on air, and viewers are known not to see it. */
export const isUnseen = ({ onAirForViewers }: Pick<Stream, 'onAirForViewers'>, phase: string): boolean =>
  phase === 'live' && onAirForViewers === false;

/** The look of a stream in this state: one that viewers do not see is never shown as one that is well. */
export const getStreamLook = (stream: Pick<Stream, 'onAirForViewers'>, phase: string): PhaseLook =>
  isUnseen(stream, phase) ? UNSEEN_LOOK : getPhaseLook(phase);

/** The look of a state; one that this page does not know yet is shown by its own word. */
export const getPhaseLook = (phase: string): PhaseLook =>
  Object.hasOwn(PHASE_LOOKS, phase)
    ? PHASE_LOOKS[phase as Phase]
    : { word: phase || 'Unknown', meaning: 'This page does not know this state.', icon: 'moon', tone: 'quiet' };

export type PowerAction = 'start' | 'stop';
const OFF_AIR: readonly string[] = ['idle', 'stopped', 'ended'];

/** The acts that a person has in a state. A schedule that has not begun can be called off, or begun at once. */
export function actionsIn(phase: string): readonly PowerAction[] {
  if (phase === 'stopping') return [];
  if (phase === 'scheduled') return ['start', 'stop'];
  return OFF_AIR.includes(phase) ? ['start'] : ['stop'];
}

/** States in which the streamer runs, so that there are numbers and a preview to ask for. */
export const isRunning = (phase: string): boolean =>
  phase === 'live' || phase === 'reconnecting' || phase === 'starting';

/** States in which a stop takes something away: what viewers see, or a start that somebody relies on. */
export const stopAsks = (phase: string): boolean => isRunning(phase) || phase === 'scheduled';

/** States that ask for a person. */
export const needsAttention = (phase: string): boolean => {
  const { tone } = getPhaseLook(phase);
  return tone === 'attention' || tone === 'danger';
};

/** A person's latest wish; held until the system has taken it up. */
export interface PowerIntent {
  want: PowerAction;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

/** How long a wish colours the state that is shown. After it the page shows the truth. */
export const INTENT_MS = 10_000;

/** The state to show: a wish that the operator has not seen yet shows as `starting` or `stopping`. */
export function shownPhase(phase: string, intent: PowerIntent | undefined, now: number): string {
  if (!intent || now - intent.at > INTENT_MS) return phase;
  if (intent.want === 'start') return [...OFF_AIR, 'scheduled', 'stopping'].includes(phase) ? 'starting' : phase;
  return [...OFF_AIR, 'failed'].includes(phase) ? phase : 'stopping';
}
