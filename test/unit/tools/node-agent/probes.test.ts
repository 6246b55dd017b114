import { describe, expect, it } from 'vitest';
import { afterOutcome, NO_VERDICT, timing } from '../../../../tools/node-agent/probes.ts';

describe('probes', () => {
  const rhythm = timing({ successThreshold: 2, failureThreshold: 3 });
  const verdicts = (outcomes: string) => {
    let state = NO_VERDICT;
    return [...outcomes].map((outcome) => {
      state = afterOutcome(state, outcome === '+', rhythm);
      return state.verdict;
    });
  };

  it('a verdict changes when its threshold is reached in a row, not before', () => {
    expect(verdicts('++')).toEqual([undefined, true]);
    expect(verdicts('++--+---')).toEqual([undefined, true, true, true, true, true, true, false]);
    expect(verdicts('---+-++')).toEqual([undefined, undefined, false, false, false, false, true]);
  });
});
