/**
 * What a process has sent and nobody has received: bytes that wait in the kernel for a peer that has not acknowledged them. Linux
 * tells of it in /proc, which takes a while where there are many connections; elsewhere it is not known.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Of one line of /proc/net/tcp: its inode, and the bytes that are not acknowledged. */
const LINE = /^\s*\d+: \S+ \S+ \S+ ([0-9A-F]+):[0-9A-F]+ \S+ \S+ +\d+ +\d+ (\d+) /gm;

/** Bytes by the inode of the connection, as /proc tells of it. */
export function parseQueues(table: string): Map<string, number> {
  return new Map([...table.matchAll(LINE)].map(([, bytes = '0', inode = '']) => [inode, Number.parseInt(bytes, 16)]));
}

/** Bytes of all TCP connections of the process; 0 where it is gone, or where nobody tells. */
export async function unreceivedBytes(pid: number): Promise<number> {
  try {
    const dir = `/proc/${pid}/fd`;
    const links = await Promise.all((await readdir(dir)).map((fd) => readlink(`${dir}/${fd}`).catch(() => '')));
    const inodes = links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
    if (inodes.length === 0) return 0;
    const read = (table: string) => readFile(`/proc/${pid}/net/${table}`, 'latin1').catch(() => '');
    const queues = parseQueues((await Promise.all(['tcp', 'tcp6'].map(read))).join('\n'));
    return inodes.reduce((sum, inode) => sum + (queues.get(inode) ?? 0), 0);
  } catch {
    return 0;
  }
}
