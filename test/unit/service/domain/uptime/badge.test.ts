import { describe, expect, test } from 'vitest';
import { describeStatus, describeUptime, drawBadge } from '../../../../../src/service/domain/uptime/badge.ts';

const readText = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);

describe('a badge', () => {
  test.each([
    [100, '100 %'],
    [99.999, '99.99 %'],
    [99.98, '99.98 %'],
    [99.5, '99.5 %'],
    [0, '0 %'],
    [null, 'no data'],
  ])('says of an uptime of %s that it is %s', (uptimePercent, value) =>
    expect(readText(drawBadge(describeUptime({ uptimePercent }, 30)))).toEqual(['uptime 30d', value]),
  );

  test.each([
    ['onAir', 'on air'],
    ['offAir', 'off air'],
    ['unwanted', 'stopped'],
    ['unknown', 'unknown'],
  ] as const)('says of a stream that is %s that it is %s', (state, value) =>
    expect(readText(drawBadge(describeStatus(state)))).toEqual(['stream', value]),
  );

  test('is an image with a name for those who do not see it', () => {
    const svg = drawBadge(describeUptime({ uptimePercent: 99.98 }, 7));
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-label="uptime 7d: 99.98 %"><title>uptime 7d: 99.98 %<\/title>/);
  });

  test('has no markup of a text in it', () => {
    const svg = drawBadge({ label: '<script>"&\'', value: '</svg>', color: '#333' });
    expect(readText(svg)).toEqual(['&lt;script&gt;&quot;&amp;&apos;', '&lt;/svg&gt;']);
    expect(svg.match(/<\/?svg/g)).toHaveLength(2);
  });
});
