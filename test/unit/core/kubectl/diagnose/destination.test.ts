/** Tests what a diagnosis says of the viewers of a destination. */
import { expect, test } from 'vitest';
import { tellDestination } from '../../../../../src/core/kubectl/diagnose/destination.ts';
import { Reader } from '../../../../../src/core/kubectl/diagnose/facts.ts';
import { PLATFORM_CODES } from '../../../../../src/core/lib/codes/platforms.ts';
import { PLATFORM_ISSUES } from '../../../../../src/core/lib/codes/youtube-issues.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { at, destination, NOW } from '../../../../kit/make/operator.ts';
import { watched } from '../../../../kit/make/watched.ts';

const diagnose = (one: Destination, now: Date) =>
  tellDestination(new Reader({ get: async () => one, list: async () => [] } as never, 'tv'), 'tv', now);

test('a destination whose viewers see nothing is told with the cause, the fix and what the platform says', async () => {
  const [code = ''] = PLATFORM_ISSUES.keys();
  const issues = [{ code, severity: 'error' as const }];
  const dark = watched('tv', { status: 'False', reason: 'broadcast_ended', more: { issues } }, NOW);
  const { summary, findings } = await diagnose(dark, at(60));
  expect(summary).toContain('viewers do not see it (broadcast_ended), checked 60s ago');
  const { meaning, fix } = PLATFORM_CODES.broadcast_ended;
  const issue = PLATFORM_ISSUES.get(code);
  expect(findings).toEqual([
    { message: meaning, fix },
    { message: issue?.meaning, fix: issue?.fix },
  ]);
});

test('viewers that see it are counted, and an answer that nobody confirms is a finding', async () => {
  const seen = watched('tv', { status: 'True', more: { viewers: 12 } }, NOW);
  const now = await diagnose(seen, NOW);
  expect(now.summary).toContain('viewers (12) see it');
  expect(now.findings).toEqual([]);
  const later = await diagnose(seen, at(90));
  expect(later.summary).toContain('viewers: unknown (not_checked)');
  expect(later.findings).toMatchObject([{ fix: PLATFORM_CODES.not_checked.fix }]);
});

test('a destination that nobody watches says nothing of viewers', async () => {
  const { summary, findings } = await diagnose(destination('tv'), NOW);
  expect(summary).not.toContain('viewers');
  expect(findings).toEqual([]);
});
