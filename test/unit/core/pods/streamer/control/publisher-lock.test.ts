import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PublisherLock } from '../../../../../../src/core/pods/streamer/control/publisher-lock.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';

const dir = tempDir();
const file = join(dir, 'publisher');

const openLock = async (named: string) => {
  await writeFile(file, named);
  const told: string[] = [];
  const lock = new PublisherLock({ podUid: 'me', file, onChange: (state) => told.push(state) });
  await lock.refresh();
  return { lock, told };
};
const names = async (lock: PublisherLock, named: string) => {
  await writeFile(file, named);
  await lock.refresh();
};

describe('a pod of a stream', () => {
  it('waits while the file names another pod or none, and acquires the lock when it is named', async () => {
    const { lock, told } = await openLock('other');
    expect(lock.state).toBe('waiting');
    await names(lock, '');
    expect(lock.state).toBe('waiting');
    await names(lock, 'me\n');
    expect([lock.state, told]).toEqual(['acquired', ['acquired']]);
  });

  it('acquires the lock from the operator before its file says so, and only in its own name', async () => {
    const { lock } = await openLock('other');
    expect(lock.acquire('other')).toBe(false);
    expect(lock.acquire('me')).toBe(true);
    await lock.refresh();
    expect(lock.state).toBe('acquired');
    await names(lock, 'me');
    expect(lock.state).toBe('acquired');
  });

  it('releases the lock for ever when another pod is named after it', async () => {
    const { lock } = await openLock('me');
    await names(lock, 'third');
    expect(lock.state).toBe('released');
    expect(lock.acquire('me')).toBe(false);
    await names(lock, 'me');
    expect(lock.state).toBe('released');
  });

  it('releases the lock for ever when it has to stop, also before it was named', async () => {
    for (const named of ['me', 'other']) {
      const { lock } = await openLock(named);
      lock.release();
      await lock.released;
      expect(lock.acquire('me')).toBe(false);
    }
  });

  it('changes nothing while the file cannot be read', async () => {
    const { lock } = await openLock('me');
    await rm(file);
    await lock.refresh();
    expect(lock.state).toBe('acquired');
  });
});
