import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/kube/core.ts';
import { writeAtomically } from '../../../tools/node-agent/atomic-dir.ts';
import { ContainerLog, readLog } from '../../../tools/node-agent/container-log.ts';
import { LineSplitter, MAX_PIECE_BYTES, selectLog } from '../../../tools/node-agent/log-format.ts';
import type { Volume } from '../../../tools/node-agent/types.ts';
import { MountError, volumeFiles } from '../../../tools/node-agent/volume-content.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'loopstream-node-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

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

describe('the content of volumes', () => {
  const pod = { metadata: { name: 'p', labels: { app: 'x' }, annotations: {} }, spec: {} } as unknown as Pod;
  const address = { podIP: '127.16.0.1', hostIP: '127.0.0.1' };
  const data: Record<string, Buffer> = { user: Buffer.from('u'), pass: Buffer.from([0, 255]) };
  const lookUp = (_kind: string, name: string) => (name === 's' ? data : undefined);
  const buildFiles = (volume: Omit<Volume, 'name'>) => volumeFiles({ name: 'v', ...volume }, pod, address, lookUp);

  it('a Secret gives each key, bytes as they are, to the owner alone', () => {
    const written = buildFiles({ secret: { secretName: 's', defaultMode: 0o644 } });
    expect(written.get('pass')).toEqual({ data: Buffer.from([0, 255]), mode: 0o600 });
    expect(buildFiles({ secret: { secretName: 's', items: [{ key: 'user', path: 'a/b', mode: 0o440 }] } })).toEqual(
      new Map([['a/b', { data: Buffer.from('u'), mode: 0o400 }]]),
    );
  });

  it('a missing Secret or key is a mount error unless it is optional', () => {
    expect(() => buildFiles({ secret: { secretName: 'none' } })).toThrow(new MountError('secret "none" not found'));
    expect(() => buildFiles({ secret: { secretName: 's', items: [{ key: 'no', path: 'no' }] } })).toThrow(
      'non-existent',
    );
    expect(buildFiles({ secret: { secretName: 'none', optional: true } }).size).toBe(0);
  });

  it('a projected volume puts its sources together', () => {
    const sources = [
      { secret: { name: 's', items: [{ key: 'user', path: 'user' }] } },
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ];
    const written = buildFiles({ projected: { sources } });
    expect([...written].map(([path, file]) => [path, file.data.toString()])).toEqual([
      ['user', 'u'],
      ['labels', 'app="x"'],
    ]);
  });

  it('no path leads out of the volume', () => {
    expect(() => buildFiles({ secret: { secretName: 's', items: [{ key: 'user', path: '../x' }] } })).toThrow(
      MountError,
    );
  });
});

describe('a container log', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const later = '2026-01-01T00:01:00.000Z';
  const text = (chunks: [string, string][]) => {
    const splitter = new LineSplitter('stdout');
    return Buffer.concat(chunks.flatMap(([chunk, time]) => splitter.records(Buffer.from(chunk), time)));
  };

  it('gives lines back as they were written, the last of them, or those since a time', () => {
    const file = text([
      ['one\ntw', at],
      ['o\nthree\n', later],
    ]);
    expect(selectLog(file, {}).toString()).toBe('one\ntwo\nthree\n');
    expect(selectLog(file, { tailLines: 1, timestamps: true }).toString()).toBe(`${later} three\n`);
    expect(selectLog(file, { tailLines: 0 }).toString()).toBe('');
    expect(selectLog(file, { sinceMs: Date.parse(later) }).toString()).toBe('two\nthree\n');
    expect(selectLog(file, { limitBytes: 5 }).toString()).toBe('one\nt');
  });

  it('cuts an endless line into pieces that read as one', () => {
    const long = 'x'.repeat(MAX_PIECE_BYTES * 2 + 5);
    const file = text([[`${long}\n`, at]]);
    expect(file.toString().match(/ P /g)).toHaveLength(2);
    expect(selectLog(file, { tailLines: 1 }).toString()).toBe(`${long}\n`);
  });

  it('rotates by size, so that two files are all it takes, and a follower misses nothing', () => {
    const path = join(dir, 'c', '0.log');
    const log = new ContainerLog(path, () => new Date(at), 200);
    const heard: string[] = [];
    log.follow((record) => heard.push(record ? selectLog(record, {}).toString() : 'end'));
    for (let line = 0; line < 20; line++) log.write('stdout', Buffer.from(`line ${line}\n`));
    log.write('stderr', Buffer.from('no newline'));
    log.end();
    expect(heard).toHaveLength(22);
    expect(heard.slice(-3)).toEqual(['line 19\n', 'no newline\n', 'end']);
    expect(readLog(path, { tailLines: 2 }).toString()).toBe('line 19\nno newline\n');
    expect(readLog(path, {}).length).toBeLessThan(400);
  });
});
