import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ContainerLog, readLog } from '../../../../tools/node-agent/container-log.ts';
import { LineSplitter, MAX_PIECE_BYTES, selectLog } from '../../../../tools/node-agent/log-format.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let dir: string;
beforeEach(() => {
  dir = tempDir();
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
