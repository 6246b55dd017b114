/** Lists what is wrong with a stream, the gravest first, each with its fix: from the conditions alone. Pure: no I/O, no clock. */
import { findStreamCode, UNKNOWN_ISSUES } from '../../lib/codes/streams.ts';
import { type Condition, findCondition } from '../../resources/common/conditions.ts';
import { getConditionFix, getReasonCode, readGates } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { isWanted, type Phase, READINESS_CONDITIONS } from '../../resources/stream/spec.ts';

export interface StreamProblem {
  /** Public code, such as `destination_not_found`. */
  code: string;
  message: string;
  /** The way on; undefined where the message itself says it. */
  fix?: string;
  /** RFC 3339. */
  since?: string;
}

/** A problem takes something off air or leaves something out; these phases are as they should be without one. */
const RESTING: ReadonlySet<Phase> = new Set(['idle', 'scheduled', 'stopped', 'ended']);

type Reported = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> &
  Partial<Pick<Condition, 'lastTransitionTime'>>;

const toProblem = (condition: Reported, fix?: string): StreamProblem => ({
  code: getReasonCode(condition.reason),
  message: condition.message,
  ...(fix !== undefined && { fix }),
  ...(condition.lastTransitionTime !== undefined && { since: condition.lastTransitionTime }),
});

/** Conditions of a stream that is to be on air, as far as they are not as they should be. */
function listObstacles({ spec, status }: LoopStream): StreamProblem[] {
  const { conditions } = status ?? {};
  const readiness = READINESS_CONDITIONS.flatMap((type) => findCondition(conditions, type) ?? []);
  const gates = readGates(spec, conditions).map((gate) => ({ ...findCondition(conditions, gate.type), ...gate }));
  return [...readiness, ...gates]
    .filter((one) => one.status !== 'True')
    .map((one) => toProblem(one, getConditionFix(one)));
}

function listTroubles({ spec, status }: LoopStream): StreamProblem[] {
  const { conditions, phase } = status ?? {};
  const find = (type: string, wrong: Condition['status']) => {
    const found = findCondition(conditions, type);
    return found?.status === wrong ? [found] : [];
  };
  const stuck = [...find('PodScheduled', 'False'), ...find('Progressing', 'False')];
  const isAway = isWanted(spec) && phase !== undefined && !RESTING.has(phase) && phase !== 'waiting';
  return [...stuck, ...(isAway ? find('Live', 'False') : []), ...find('Degraded', 'True')].map((one) =>
    toProblem(one, findStreamCode(one.reason)?.fix),
  );
}

/** Undefined while the operator has not reported anything of the stream. */
function describeUnseen({ metadata, status }: LoopStream): StreamProblem | undefined {
  if (status?.phase !== undefined) return undefined;
  return {
    code: 'not_seen',
    message: 'The operator has not reported anything of the stream.',
    fix: UNKNOWN_ISSUES.NotChecked.fix,
    since: metadata.creationTimestamp,
  };
}

/** Each message once: several conditions may report one cause. Empty for a stream that is as it should be. */
export function listProblems(stream: LoopStream): StreamProblem[] {
  const unseen = describeUnseen(stream);
  if (unseen) return [unseen];
  const all = [...listObstacles(stream), ...listTroubles(stream)];
  return all.filter(({ message }, index) => all.findIndex((one) => one.message === message) === index);
}

/** The reason why a stream that nobody wants on air now is off air. */
function describeRest({ spec, status }: LoopStream): string {
  if (spec.suspend) return 'spec.suspend keeps the stream off air.';
  if (spec.replicas === 0) return status?.phase === 'idle' ? 'It was not started.' : 'It was stopped.';
  return findCondition(status?.conditions, 'Progressing')?.message ?? '';
}

export interface Explanation {
  /** Empty for a stream on air without a problem. */
  why: string;
  /** RFC 3339: since when the state, or its first problem, has lasted. */
  since?: string;
}

/** Explains in one line why a stream is in its phase. */
export function explain(stream: LoopStream): Explanation {
  const { metadata, status } = stream;
  const { phase, liveSince, conditions } = status ?? {};
  const [first] = listProblems(stream);
  const live = findCondition(conditions, 'Live')?.lastTransitionTime;
  const progressing = findCondition(conditions, 'Progressing');
  if (metadata.deletionTimestamp) return { why: 'It is being deleted.', since: metadata.deletionTimestamp };
  if (phase === 'live') return { why: first?.message ?? '', ...both(liveSince ?? live) };
  if (phase !== undefined && RESTING.has(phase)) {
    const rest = describeRest(stream);
    return { why: [rest, first ? `It could not start: ${first.message}` : ''].join(' ').trim(), ...both(live) };
  }
  const since = first?.since ?? (phase === 'reconnecting' ? live : progressing?.lastTransitionTime);
  return { why: first?.message ?? progressing?.message ?? '', ...both(since) };
}

const both = (since: string | undefined): Pick<Explanation, 'since'> => (since === undefined ? {} : { since });
