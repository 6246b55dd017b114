import { describe, expect, test } from 'vitest';
import { PHASES } from '../../../../../src/core/resources/stream/spec.ts';
import {
  actionsIn,
  getPhaseLook,
  getStreamLook,
  INTENT_MS,
  isRunning,
  needsAttention,
  PHASE_LOOKS,
  shownPhase,
} from '../../../../../src/dashboard/features/streams/phase.ts';

describe('states of a stream', () => {
  test('every state has a look, and none differs from another by colour alone', () => {
    expect(Object.keys(PHASE_LOOKS).sort()).toEqual([...PHASES].sort());
    expect(new Set(PHASES.map((p) => getPhaseLook(p).word)).size).toBe(PHASES.length);
    expect(new Set(PHASES.map((p) => getPhaseLook(p).icon)).size).toBe(PHASES.length);
    for (const phase of PHASES) expect(getPhaseLook(phase).meaning).toMatch(/\.$/);
  });

  test('only live looks live', () => {
    expect(PHASES.filter((p) => getPhaseLook(p).tone === 'live')).toEqual(['live']);
  });

  test('a state that a newer server invents is shown by its own word', () => {
    expect(getPhaseLook('pausing').word).toBe('pausing');
    expect(getPhaseLook('toString').word).toBe('toString');
  });

  test('running streams can be stopped, streams off air can be started, and stopping ones offer nothing', () => {
    const allowing = (action: 'start' | 'stop') => PHASES.filter((p) => actionsIn(p).includes(action));
    expect(allowing('start')).toEqual(['idle', 'scheduled', 'stopped', 'ended']);
    expect(allowing('stop')).toEqual(['scheduled', 'waiting', 'starting', 'live', 'reconnecting', 'failed']);
    expect(actionsIn('stopping')).toEqual([]);
    expect(actionsIn('a state of tomorrow')).toEqual(['stop']);
  });

  test('numbers are asked for only while a streamer runs', () => {
    expect(PHASES.filter(isRunning)).toEqual(['starting', 'live', 'reconnecting']);
  });

  test('waiting, reconnecting and failed ask for a person', () => {
    expect(PHASES.filter(needsAttention)).toEqual(['waiting', 'reconnecting', 'failed']);
  });
});

describe('a wish that the operator has not seen yet', () => {
  const at = 1_000_000;

  test('shows at once', () => {
    for (const phase of ['idle', 'scheduled', 'stopped', 'ended'])
      expect(shownPhase(phase, { want: 'start', at }, at + 1)).toBe('starting');
    expect(shownPhase('live', { want: 'stop', at }, at + 1)).toBe('stopping');
  });

  test('never hides the operator’s later report', () => {
    for (const phase of ['waiting', 'starting', 'live', 'failed'])
      expect(shownPhase(phase, { want: 'start', at }, at + 1)).toBe(phase);
    for (const phase of ['stopping', 'stopped', 'ended', 'idle', 'failed'])
      expect(shownPhase(phase, { want: 'stop', at }, at + 1)).toBe(phase);
  });

  test('is forgotten when nothing came of it', () => {
    expect(shownPhase('idle', { want: 'start', at }, at + INTENT_MS + 1)).toBe('idle');
    expect(shownPhase('live', undefined, at)).toBe('live');
  });
});

test('a stream that is known not to be seen never looks live, and one of which nothing is known does', () => {
  for (const onAirForViewers of [true, null]) expect(getStreamLook({ onAirForViewers }, 'live').tone).toBe('live');
  expect(getStreamLook({ onAirForViewers: false }, 'live')).toMatchObject({ tone: 'danger', word: 'Live, not seen' });
  for (const phase of PHASES.filter((one) => one !== 'live'))
    expect(getStreamLook({ onAirForViewers: false }, phase)).toBe(getPhaseLook(phase));
});
