import { describe, expect, test } from 'vitest';
import { parseIssues, parseProblem, problemText, unreachable } from '../../src/dashboard/problem.ts';

describe('problem documents', () => {
  test('code, sentence and issues reach the page', () => {
    const problem = parseProblem(409, {
      type: '/docs/errors/stream_not_ready',
      title: 'Stream not ready',
      status: 409,
      detail: 'The media is still being prepared.',
      code: 'stream_not_ready',
      issues: [{ code: 'media_preparing', message: 'Being prepared.', fix: 'Wait.', field: 'videoUploadObjectID' }],
    });
    expect(problem).toMatchObject({
      status: 409,
      code: 'stream_not_ready',
      message: 'The media is still being prepared.',
    });
    expect(problem.issues).toEqual([
      {
        code: 'media_preparing',
        message: 'Being prepared.',
        fix: 'Wait.',
        field: 'videoUploadObjectID',
        since: '',
      },
    ]);
    expect(problem.passing).toBe(false);
  });

  test('an answer that is no problem document still gives a sentence', () => {
    for (const body of [undefined, null, '<html>', [], 7, {}]) {
      const problem = parseProblem(502, body);
      expect(problem.code).toBe('http_502');
      expect(problem.message).toContain('502');
      expect(problem.passing).toBe(true);
    }
  });

  test('members of the wrong type are ignored, not shown', () => {
    const problem = parseProblem(422, {
      detail: { nested: true },
      code: 7,
      title: 'Validation failed',
      issues: 'none',
    });
    expect(problem).toMatchObject({ code: 'http_422', message: 'Validation failed', issues: [] });
    expect(parseIssues([null, 3, {}, { code: 'x_y' }])).toMatchObject([{ code: 'x_y', message: 'x y' }]);
  });

  test('Retry-After is seconds or nothing', () => {
    expect(parseProblem(429, {}, '12').retryAfter).toBe(12);
    expect(parseProblem(429, {}, null).retryAfter).toBeUndefined();
    expect(parseProblem(503, {}, 'Wed, 21 Oct 2015 07:28:00 GMT').retryAfter).toBeUndefined();
  });

  test('no answer at all may pass, and says that the streams go on', () => {
    expect(unreachable().passing).toBe(true);
    expect(problemText(unreachable())).toContain('keep running');
  });

  test('an error of the page itself shows no inner words', () => {
    expect(problemText(new TypeError('x is not a function'))).not.toContain('function');
  });
});
