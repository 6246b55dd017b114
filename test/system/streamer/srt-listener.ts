/** Starts SRT receivers on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { until } from '../../kit/wait.ts';

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

/** Records the received bytes; resolves when it listens. The caller kills it. */
export async function startListener(port: number, file: string, query = ''): Promise<ChildProcess> {
  const url = `srt://127.0.0.1:${port}?mode=listener${query}`;
  const input = ['-v', 'quiet', '-nostdin', '-y', '-f', 'data', '-i', url];
  const child = spawn('ffmpeg', [...input, '-map', '0', '-c', 'copy', '-flush_packets', '1', '-f', 'data', file]);
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  await until('it listens', async () => (await readFile('/proc/net/udp', 'latin1')).includes(local));
  return child;
}
