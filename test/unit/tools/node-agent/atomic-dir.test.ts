import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeAtomically } from '../../../../tools/node-agent/atomic-dir.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let dir: string;
beforeEach(() => {
  dir = tempDir();
});

const files = (content: Record<string, string>) =>
  new Map(Object.entries(content).map(([path, text]) => [path, { data: Buffer.from(text), mode: 0o600 }]));

describe('a written volume', () => {
  it('shows exactly the new files through one swapped link, and keeps nothing of the old', async () => {
    const volume = join(dir, 'v');
    await writeAtomically(volume, files({ a: '1', gone: 'x', 'deep/er': 'd' }));
    const before = await readlink(join(volume, '..data'));
    expect(await readFile(join(volume, 'deep/er'), 'utf8')).toBe('d');
    expect((await stat(join(volume, 'a'))).mode & 0o777).toBe(0o600);
    await writeAtomically(volume, files({ a: '2', b: 'new' }));
    expect(await readFile(join(volume, 'a'), 'utf8')).toBe('2');
    expect(await readlink(join(volume, 'b'))).toBe('..data/b');
    const left = (await readdir(volume)).sort();
    expect(left).toEqual(['..data', await readlink(join(volume, '..data')), 'a', 'b'].sort());
    expect(left).not.toContain(before);
  });
});
