/** Makes a certificate authority, its certificates, and stunnel in front of a receiver without TLS. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';

export interface Issued {
  certFile: string;
  keyFile: string;
}

export interface Authority {
  /** The certificate that clients have to trust. */
  caFile: string;
  /** `names`: OpenSSL's, e.g. `DNS:localhost`; with negative `days` it has expired. */
  issue(name: string, names: string, days?: number): Promise<Issued>;
}

/** Makes `dir` when it is missing. */
export async function makeAuthority(dir: string): Promise<Authority> {
  await mkdir(dir, { recursive: true });
  const openssl = (...args: string[]) => run('openssl', args, { cwd: dir });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const fresh = (name: string) => [...key, '-keyout', `${name}.key`, '-subj', `/CN=${name}`];
  await openssl('req', '-x509', ...fresh('authority'), '-out', 'authority.crt', '-days', '2');
  const issue = async (name: string, names: string, days = 2): Promise<Issued> => {
    await writeFile(join(dir, `${name}.ext`), `subjectAltName=${names}\n`);
    await openssl('req', ...fresh(name), '-out', `${name}.csr`);
    const signed = ['-CA', 'authority.crt', '-CAkey', 'authority.key', '-CAcreateserial', '-extfile', `${name}.ext`];
    await openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.crt`, '-days', String(days));
    return { certFile: join(dir, `${name}.crt`), keyFile: join(dir, `${name}.key`) };
  };
  return { caFile: join(dir, 'authority.crt'), issue };
}

/** Starts stunnel on a free port of loopback, with this certificate, in front of `port`. */
export async function startStunnel(port: number, { certFile, keyFile }: Issued) {
  const accept = await reserveFreePort();
  const conf = `${certFile}.stunnel.conf`;
  await writeFile(
    conf,
    [
      ...['foreground = yes', 'pid =', 'syslog = no', '[rtmps]', `accept = 127.0.0.1:${accept}`],
      ...[`connect = 127.0.0.1:${port}`, `cert = ${certFile}`, `key = ${keyFile}`, ''],
    ].join('\n'),
  );
  const child = spawn('stunnel', [conf], { stdio: 'ignore' });
  await until('stunnel listens', async () => {
    if (child.exitCode !== null) throw new Error(`stunnel ended with ${child.exitCode}`);
    const socket = connect({ port: accept, host: '127.0.0.1' });
    const listens = await Promise.race([
      once(socket, 'connect').then(() => true),
      new Promise<false>((resolve) => socket.once('error', () => resolve(false))),
    ]).catch(() => false);
    socket.destroy();
    return listens;
  });
  return {
    port: accept,
    close: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}
