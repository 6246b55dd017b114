/**
 * Counts the bytes that a process has sent and its peers have not acknowledged. Linux shows them in /proc, which is
 * slow where there are many connections; on other systems the count is 0.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Matches one line of /proc/net/tcp: the queued bytes and the inode. */
// linear-time: the kernel writes the lines.
const LINE = /^\s*\d+: \S+ \S+ \S+ ([0-9A-F]+):[0-9A-F]+ \S+ \S+ +\d+ +\d+ (\d+) /gm;

/** Parses the queued bytes of each connection, by its inode. */
export function parseQueues(table: string): Map<string, number> {
  return new Map([...table.matchAll(LINE)].map(([, bytes = '0', inode = '']) => [inode, Number.parseInt(bytes, 16)]));
}

/** Counts the queued bytes of all TCP connections of a process; 0 if it is gone or the system does not show them. */
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
