import { expect, test } from 'vitest';
import { problemText } from '../../../../src/dashboard/api/problem.ts';
import { ConnectionError, LoopstreamError } from '../../../../src/service/client/index.ts';
import { createProblem } from '../../../../src/service/client/problem.ts';

test('a problem has its own words', () => {
  const body = { code: 'stream_not_ready', detail: 'The media is still being prepared.' };
  expect(problemText(createProblem(409, new Headers(), body, 0))).toBe('The media is still being prepared.');
  expect(problemText(createProblem(502, new Headers(), undefined, 0))).toContain('502');
});

test('no answer at all says that the streams go on', () => {
  expect(problemText(new ConnectionError('x'))).toContain('keep running');
});

test('an error of the page itself shows no inner words', () => {
  for (const error of [new TypeError('x is not a function'), new LoopstreamError('x is not a function'), 'function'])
    expect(problemText(error)).not.toContain('function');
});
