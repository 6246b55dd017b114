import { expect, test } from 'vitest';
import { listPublishingFacts } from '../../../../../src/dashboard/features/streams/publishing.ts';

test('each figure stands beside what the platform asks for, and one that falls short is marked', () => {
  const good = { bitrateKbps: 1512, leastBitrateKbps: 1500, pace: 1 };
  expect(listPublishingFacts(good, 2)).toEqual([
    { text: '1.51 Mbps', wanted: 'at least 1.50 Mbps', isBad: false },
    { text: 'a keyframe every 2 s', wanted: 'at most 4 s', isBad: false },
    { text: 'at full speed', isBad: false },
  ]);
  const bad = { bitrateKbps: 870, leastBitrateKbps: 1500, pace: 0.8 };
  expect(listPublishingFacts(bad, 4.27)).toEqual([
    { text: '870 kbps', wanted: 'at least 1.50 Mbps', isBad: true },
    { text: 'a keyframe every 4.3 s', wanted: 'at most 4 s', isBad: true },
    { text: '80 % of its speed', isBad: true },
  ]);
});

test('what is not known is left out', () => {
  expect(listPublishingFacts({ bitrateKbps: null, leastBitrateKbps: 1500, pace: null }, 2)).toEqual([]);
  expect(listPublishingFacts({ bitrateKbps: 300, leastBitrateKbps: null, pace: null }, null)).toEqual([
    { text: '300 kbps', isBad: false },
  ]);
});
