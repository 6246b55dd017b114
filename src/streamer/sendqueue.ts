/**
 * What Linux holds for the peers of a process's TCP connections (proc_pid_net(5)). Reading the table takes milliseconds on
 * a node with many connections, so it is for the moment of doubt, not for every second.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** The columns of /proc/net/tcp, by position. */
const QUEUES = 4;
const INODE = 9;

/** Bytes written and not acknowledged; undefined where the process or the table cannot be read, or it has no connection. */
export async function sendQueueBytes(pid: number): Promise<number | undefined> {
  try {
    const inodes = await socketsOf(pid);
    const tables = await Promise.all(
      ['tcp', 'tcp6'].map((table) => readFile(`/proc/${pid}/net/${table}`, 'latin1').catch(() => '')),
    );
    return sumOfQueues(tables.join('\n'), inodes);
  } catch {
    return undefined;
  }
}

async function socketsOf(pid: number): Promise<Set<string>> {
  const dir = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(dir)).map((fd) => readlink(`${dir}/${fd}`).catch(() => '')));
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

function sumOfQueues(table: string, inodes: ReadonlySet<string>): number | undefined {
  let sum: number | undefined;
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    if (!inodes.has(columns[INODE] ?? '')) continue;
    sum = (sum ?? 0) + Number.parseInt(columns[QUEUES] ?? '0', 16);
  }
  return sum;
}
