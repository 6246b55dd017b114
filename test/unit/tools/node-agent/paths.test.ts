import { describe, expect, it } from 'vitest';
import { pathRewriter } from '../../../../tools/node-agent/paths.ts';

describe('mount paths', () => {
  const rewrite = pathRewriter([
    { mountPath: '/media', realPath: '/real/m' },
    { mountPath: '/media/cache/', realPath: '/real/c' },
  ]);

  it.each([
    ['/media', '/real/m'],
    ['/media/a.mp4', '/real/m/a.mp4'],
    ['file:///media/a.mp4', 'file:///real/m/a.mp4'],
    ['FILE:///media', 'FILE:///real/m'],
    ['--dir=/media', '--dir=/real/m'],
    ['/bin:/media:/media/cache', '/bin:/real/m:/real/c'],
    ['{"key":"/media/a","b":["/media"]}', '{"key":"/real/m/a","b":["/real/m"]}'],
    ["require('/media/x')", "require('/real/m/x')"],
  ])('%s is found as the beginning of a path', (text, expected) => {
    expect(rewrite(text)).toBe(expected);
  });

  it.each(['/srv/media', '/mediatheque', '/media.json', 'https://media/x', 'https://host/media', './media', '/Media'])(
    '%s is another path and stays',
    (text) => {
      expect(rewrite(text)).toBe(text);
    },
  );

  it('a replaced path is not replaced again', () => {
    const nested = pathRewriter([
      { mountPath: '/a', realPath: '/b/a' },
      { mountPath: '/b', realPath: '/c' },
    ]);
    expect(nested('/a/x /b')).toBe('/b/a/x /c');
  });

  it('a volume at / is not rewritten', () => {
    expect(pathRewriter([{ mountPath: '/', realPath: '/real' }])('/etc/passwd')).toBe('/etc/passwd');
  });
});
