/** Tests how settings are read from an environment, one by one or packed into one variable. */
import { expect, test } from 'vitest';
import { ConfigError, packSettings, reader } from '../../../../src/core/settings/settings.ts';

test('packed settings read as they were, and a variable of its own wins', () => {
  const host = { name: 'LOOPSTREAM_HOST', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };
  const tmp = { name: 'TMPDIR', value: '/tmp' };
  const settings = [
    { name: 'LOOPSTREAM_PROGRAM_FILE', value: '/etc/"program"' },
    { name: 'LOOPSTREAM_METRICS_PORT', value: '9405' },
  ];
  const [packed = {}, ...others] = packSettings([...settings, host, tmp], 'streamer');
  expect(packed).toMatchObject({ name: 'LOOPSTREAM_SETTINGS' });
  expect(others).toEqual([host, tmp]);
  const env = { LOOPSTREAM_SETTINGS: (packed as { value?: string }).value, LOOPSTREAM_METRICS_PORT: '1' };
  const { text, integer, optional } = reader(env);
  expect(text('PROGRAM_FILE')).toBe('/etc/"program"');
  expect(integer('METRICS_PORT')).toBe(1);
  expect(optional('HOST')).toBeUndefined();
});

test('packed settings leave out what is the default of the role', () => {
  const pack = (name: string, value: string) =>
    packSettings([{ name: `LOOPSTREAM_${name}`, value }], 'streamer')[0]?.value;
  for (const [name, usual, other] of [
    ['PORT', '9400', '8080'],
    ['CONFINE', 'auto', 'off'],
    ['LINGER_SECONDS', '0', '20'],
    ['ALLOW_PRIVATE_DESTINATIONS', 'false', 'true'],
  ] as const) {
    expect(pack(name, usual)).toBe('{}');
    expect(pack(name, other)).toBe(JSON.stringify({ [name]: other }));
  }
});

test.each(['{', '3', 'null'])('%s is no set of settings', (text) => {
  expect(() => reader({ LOOPSTREAM_SETTINGS: text })).toThrow(ConfigError);
});
