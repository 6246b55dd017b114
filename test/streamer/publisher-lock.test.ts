import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gate } from '../../src/media/streamer/control/publisher-lock.ts';

let dir: string;
let file: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gate-'));
  file = join(dir, 'publisher');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const gateAt = async (named: string) => {
  await writeFile(file, named);
  const told: string[] = [];
  const gate = new Gate({ podUid: 'me', file, changed: (state) => told.push(state) });
  await gate.look();
  return { gate, told };
};
const names = async (gate: Gate, named: string) => {
  await writeFile(file, named);
  await gate.look();
};

describe('a pod of a stream', () => {
  it('is held while another one is named, or nobody, and opens when it is', async () => {
    const { gate, told } = await gateAt('other');
    expect(gate.state).toBe('held');
    await names(gate, '');
    expect(gate.state).toBe('held');
    await names(gate, 'me\n');
    expect([gate.state, told]).toEqual(['open', ['open']]);
  });

  it('opens by word of the operator before its files know, and only when it is meant', async () => {
    const { gate } = await gateAt('other');
    expect(gate.release('other')).toBe(false);
    expect(gate.release('me')).toBe(true);
    await gate.look();
    expect(gate.state).toBe('open');
    await names(gate, 'me');
    expect(gate.state).toBe('open');
  });

  it('closes for ever when another one is named after it', async () => {
    const { gate } = await gateAt('me');
    await names(gate, 'third');
    expect(gate.state).toBe('closed');
    expect(gate.release('me')).toBe(false);
    await names(gate, 'me');
    expect(gate.state).toBe('closed');
  });

  it('closes for ever when it is told to stop, also before it was open', async () => {
    for (const named of ['me', 'other']) {
      const { gate } = await gateAt(named);
      gate.close();
      await gate.closed;
      expect(gate.release('me')).toBe(false);
    }
  });

  it('goes on as it is while the file cannot be read', async () => {
    const { gate } = await gateAt('me');
    await rm(file);
    await gate.look();
    expect(gate.state).toBe('open');
  });
});
