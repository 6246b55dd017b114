/** Tests the series of what viewers of destinations see. */
import { expect, test } from 'vitest';
import { buildPlatformSeries } from '../../../../../src/core/operator/metrics/platforms.ts';
import { at, destination, NOW } from '../../../../kit/make/operator.ts';
import { watched } from '../../../../kit/make/watched.ts';

const listSeries = (now: Date) =>
  buildPlatformSeries(
    [
      watched('seen', { status: 'True', more: { viewers: 41 } }, NOW),
      watched('dark', { status: 'False', reason: 'broadcast_ended' }, NOW),
      watched('new', undefined, NOW),
      destination('plain'),
    ],
    now,
  )
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

test('each destination that is watched has its answer, the time of the last look and its viewers', () => {
  const checkedAt = NOW.getTime() / 1000;
  expect(listSeries(NOW)).toEqual([
    'loopstream_destination_platform_live{namespace="tv",destination="seen",status="true",reason="Seen"} 1',
    'loopstream_destination_platform_live{namespace="tv",destination="dark",status="false",reason="BroadcastEnded"} 1',
    'loopstream_destination_platform_live{namespace="tv",destination="new",status="unknown",reason="NotChecked"} 1',
    `loopstream_destination_platform_checked_at{namespace="tv",destination="seen"} ${checkedAt}`,
    `loopstream_destination_platform_checked_at{namespace="tv",destination="dark"} ${checkedAt}`,
    'loopstream_destination_viewers{namespace="tv",destination="seen"} 41',
  ]);
});

test('an answer that nobody confirms is unknown, and its viewers are not counted any more', () => {
  const series = listSeries(at(90));
  expect(series[0]).toContain('destination="seen",status="unknown",reason="NotChecked"');
  expect(series.filter((line) => line.startsWith('loopstream_destination_viewers'))).toEqual([]);
});
