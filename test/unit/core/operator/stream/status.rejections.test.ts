/** Tests which refusals of destinations are told: each once, until the destination takes media or the stream leaves the air. */
import { describe, expect, test } from 'vitest';
import type { PodReport } from '../../../../../src/core/operator/stream/pod-report.ts';
import { findRejections } from '../../../../../src/core/operator/stream/status.ts';
import { recordTransitions } from '../../../../../src/core/operator/stream/transitions.ts';
import type { LoopStreamStatus, Phase } from '../../../../../src/core/resources/stream/spec.ts';
import { destination, NOW, stream } from '../../../../kit/make/operator.ts';

const destinations = new Map([
  ['tv', destination('tv')],
  ['web', destination('web')],
]);

/** A pod’s report: `tv` fails with this code, takes media for `ok`, and is not mentioned for undefined. */
const report = (code?: string): PodReport => ({
  clock: {},
  runs: [],
  problems: code
    ? code === 'ok'
      ? []
      : [{ reason: 'DestinationReconnecting', message: 'It refuses.', code, destination: 'tv' }]
    : [],
  ...(code === 'ok' && { accepting: ['tv'] }),
});

interface Step {
  report?: PodReport;
  phase?: Phase;
}

/** The codes of the refusals that are told, step by step. */
function walk(steps: readonly Step[]): string[] {
  let status: LoopStreamStatus = { phase: 'starting' };
  return steps.flatMap(({ phase = 'live', report: said }) => {
    const one = stream({ destinationNames: ['tv', 'web'] }, { status });
    const next: LoopStreamStatus = {
      phase,
      rejections: findRejections(one, phase, { report: said, destinations, now: NOW }),
    };
    const known = status.transitions?.length ?? 0;
    status = { ...next, transitions: recordTransitions(status, next, NOW) };
    return (status.transitions ?? [])
      .slice(known)
      .flatMap(({ kind, reason = '' }) => (kind === 'Rejected' ? [reason] : []));
  });
}

describe('a refusal', () => {
  test.each(['key_in_use', 'login_required', 'login_refused', 'publish_rejected'])('is %s', (code) => {
    expect(walk([{ report: report(code) }])).toHaveLength(1);
  });

  test.each(['connection_refused', 'dns_failed', 'stalled', 'reset', 'unreachable', 'tls_failed'])(
    'is not %s, which may pass by itself',
    (code) => {
      expect(walk([{ report: report(code) }])).toEqual([]);
    },
  );

  test('is told once, however often the pod tries again, and whatever else fails meanwhile', () => {
    const codes = ['publish_rejected', 'publish_rejected', undefined, 'reset', 'key_in_use', 'publish_rejected'];
    expect(walk(codes.map((code) => ({ report: report(code) })))).toEqual(['PublishRejected']);
  });

  test('is told once though no pod reports for a while, and another pod begins', () => {
    const steps = [
      { report: report('key_in_use') },
      {},
      { phase: 'starting' as const },
      { report: report('key_in_use') },
    ];
    expect(walk(steps)).toEqual(['KeyInUse']);
  });

  test('is told again after the destination took media, and after the stream was off air', () => {
    const refused = { report: report('key_in_use') };
    expect(walk([refused, { report: report('ok') }, refused])).toEqual(['KeyInUse', 'KeyInUse']);
    expect(walk([refused, { phase: 'stopped' }, refused])).toEqual(['KeyInUse', 'KeyInUse']);
  });

  test('ends with the destination’s part in the stream', () => {
    const status: LoopStreamStatus = {
      phase: 'live',
      rejections: [{ destination: 'old', reason: 'KeyInUse', message: 'It refuses.', since: '2027-01-31T18:00:00Z' }],
    };
    expect(findRejections(stream({}, { status }), 'live', { report: report(), destinations, now: NOW })).toEqual([]);
  });
});
