/** Probes a container: one HTTP request, one TCP connection or one command (core/v1 ProbeHandler). */
import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { type Outcome, portNumber } from './probes.ts';
import type { Container, Probe } from './types.ts';

export interface ProbeContext {
  container: Container;
  podIP: string;
  /** The container's environment and directory, for exec. */
  env: Record<string, string>;
  cwd: string;
  /** Rewrites mount paths in the command of an exec probe. */
  rewrite: (text: string) => string;
}

const OK: Outcome = { ok: true, message: '' };
const failed = (message: string): Outcome => ({ ok: false, message });
const MAX_BODY = 1024;

/** Never rejects: whatever goes wrong is the outcome. */
export async function sendProbe(probe: Probe, context: ProbeContext, timeoutMs: number): Promise<Outcome> {
  try {
    if (probe.httpGet) return await askHttp(probe.httpGet, context, timeoutMs);
    if (probe.tcpSocket) return await askTcp(probe.tcpSocket, context, timeoutMs);
    if (probe.exec) return await askCommand(probe.exec.command ?? [], context, timeoutMs);
    return failed('this node has only httpGet, tcpSocket and exec probes');
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

function askHttp(
  get: NonNullable<Probe['httpGet']>,
  { container, podIP }: ProbeContext,
  timeoutMs: number,
): Promise<Outcome> {
  const port = portNumber(get.port, container);
  const secure = get.scheme?.toUpperCase() === 'HTTPS';
  const headers: Record<string, string> = { 'user-agent': 'kube-probe/loopstream', accept: '*/*' };
  for (const { name, value } of get.httpHeaders ?? []) headers[name] = value;
  return new Promise((resolve) => {
    // A probe checks the service, not its certificate, as in a kubelet.
    const send = secure ? httpsRequest : httpRequest;
    const options = { host: get.host || podIP, port, path: get.path || '/', headers, agent: false as const };
    const request = send({ ...options, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        if (body.length < MAX_BODY) body += chunk.toString('utf8');
      });
      response.on('end', () => {
        const { statusCode = 0 } = response;
        const ok = statusCode >= 200 && statusCode < 400;
        settle(
          ok ? OK : failed(`HTTP probe failed with statuscode: ${statusCode}${body ? ` ${body.slice(0, 200)}` : ''}`),
        );
      });
      response.on('error', (error) => settle(failed(error.message)));
    });
    const timer = setTimeout(() => settle(failed(`Get ${options.path}: no answer within ${timeoutMs} ms`)), timeoutMs);
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      request.destroy();
      resolve(outcome);
    };
    request.on('error', (error) => settle(failed(error.message)));
    request.end();
  });
}

function askTcp(
  tcp: NonNullable<Probe['tcpSocket']>,
  { container, podIP }: ProbeContext,
  timeoutMs: number,
): Promise<Outcome> {
  const port = portNumber(tcp.port, container);
  return new Promise((resolve) => {
    const socket = connect({ host: tcp.host || podIP, port });
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle(failed(`no connection within ${timeoutMs} ms`)), timeoutMs);
    socket.once('connect', () => settle(OK));
    socket.once('error', (error) => settle(failed(error.message)));
  });
}

function askCommand(command: string[], { env, cwd, rewrite }: ProbeContext, timeoutMs: number): Promise<Outcome> {
  const [file = '', ...args] = command.map(rewrite);
  return new Promise((resolve) => {
    const options = { env, cwd, timeout: timeoutMs, killSignal: 'SIGKILL' as const, maxBuffer: 64 * 1024 };
    execFile(file, args, options, (error, stdout, stderr) => {
      if (!error) resolve(OK);
      else if (error.killed) resolve(failed(`command timed out after ${timeoutMs} ms`));
      else resolve(failed(`${stdout}${stderr}`.slice(0, MAX_BODY) || error.message));
    });
  });
}
