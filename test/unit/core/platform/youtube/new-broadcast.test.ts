import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseVideoId, readTemplates } from '../../../../../src/core/platform/youtube/answers.ts';
import { buildBroadcast, pickTemplate } from '../../../../../src/core/platform/youtube/new-broadcast.ts';

const NOW_MS = Date.parse('2026-07-15T12:00:00Z');
const MARK = '0c2e1f60-8f4e-4c53-9d9e-0e6d6b8f2a11';

interface Body {
  snippet: { title: string; description: string; scheduledStartTime: string };
  status: { privacyStatus: string };
}
const build = (values: Partial<Parameters<typeof buildBroadcast>[0] & object>) =>
  buildBroadcast(
    { id: 'video', title: 'Rain', description: 'All night.', privacyStatus: 'unlisted', ...values },
    MARK,
    NOW_MS,
  ) as Body;

test('a new broadcast takes title, text and privacy over, and the mark of the last one is replaced', () => {
  const first = build({});
  expect(first).toMatchObject({ snippet: { title: 'Rain' }, status: { privacyStatus: 'unlisted' } });
  const again = build({ description: first.snippet.description.replace(MARK, 'aaaa-1') });
  expect(again.snippet.description).toBe(`All night.\n\n[kept on air: ${MARK}]`);
});

test('a new broadcast fits the limits of the API, whatever the last one had', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: 'binary', maxLength: 6_000 }),
      (title, description) => {
        const { snippet } = build({ title, description });
        expect([...snippet.title].length).toBeGreaterThan(0);
        expect([...snippet.title].length).toBeLessThanOrEqual(100);
        expect(Buffer.byteLength(snippet.description)).toBeLessThanOrEqual(5_000);
        expect(snippet.description).toContain(MARK);
        expect(snippet.title + snippet.description).not.toMatch(/[<>]/);
        expect(Date.parse(snippet.scheduledStartTime)).toBeGreaterThan(NOW_MS);
      },
    ),
  );
});

test('the broadcast that was last live is continued, else the one on this key that ended last', () => {
  const item = (id: string, boundStreamId: string, actualEndTime: string) => ({
    id,
    snippet: { title: id, actualEndTime },
    status: { privacyStatus: 'public' },
    contentDetails: { boundStreamId },
  });
  const templates = readTemplates({
    items: [
      item('old', 'ours', '2026-07-01T00:00:00Z'),
      item('new', 'ours', '2026-07-14T00:00:00Z'),
      item('theirs', 'other', '2026-07-15T00:00:00Z'),
      { id: 'unreadable' },
    ],
  });
  expect(pickTemplate(templates, 'ours', 'old')?.id).toBe('old');
  expect(pickTemplate(templates, 'ours', undefined)?.id).toBe('new');
  expect(pickTemplate(templates, 'ours', 'gone')?.id).toBe('new');
  expect(pickTemplate([], 'ours', undefined)).toBeUndefined();
});

test.each([
  'dQw4w9WgXcQ',
  ' dQw4w9WgXcQ ',
  'https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=4',
  'youtube.com/watch?v=dQw4w9WgXcQ',
  'https://youtu.be/dQw4w9WgXcQ',
  'https://www.youtube.com/live/dQw4w9WgXcQ?feature=share',
  'https://studio.youtube.com/video/dQw4w9WgXcQ/livestreaming',
])('the video of %s is found', (text) => {
  expect(parseVideoId(text)).toBe('dQw4w9WgXcQ');
});
