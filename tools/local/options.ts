/** Parses the command line of the local system. Pure: no I/O, no clock. */
import { parseArgs } from 'node:util';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { isBadPort, suggestPort } from '../process/bad-ports.ts';
import type { Grant } from './grant.ts';
import { type Payment, readPayment } from './payment.ts';

export const LOCAL_HELP = `loopstream on this machine: starts the whole product and puts a demo stream on air

Usage: make run ARGS="[options]"
       make run ARGS="grant you@example.com"   grants credit to an account of the running system (an amount may follow: 25.00)
       make run ARGS="pay 0x… 0.01"      pays a deposit (with --crypto)
       make stop                          stops it
       make reset                         stops it and deletes its state

  --detach              run in the background: return when everything is ready
  --media FILE          put this file on air instead of the demo
  --to URL              send the stream to rtmp://host/app/key instead of the local receiver
  --no-demo             start everything, but no stream
  --operator-only       start no API server and no PostgreSQL; create LoopStreams with kubectl
  --kind                run on a cluster of kind, from the chart and the Dockerfile's images (needs Docker, kind, Helm)
  --image NAME          with --kind: use this image of the Docker engine, and the one with -prepare behind its repository; build none
  --node-image NAME     with --kind: the image of the cluster's node (default: the one of kind)
  --keep                with --kind: keep the cluster when the system stops, for the next start
  --crypto              also start a local Ethereum chain, to pay deposits with worthless coins
  --equal-shares        give all pods the same share of busy processors, not in proportion of what they request
  --record              record the media that the local receiver gets, in <state-dir>/recordings
  --port N              port of the dashboard, REST and GraphQL (default 8080; 0 picks a free port)
  --rtmp-port N         port of the local RTMP receiver (default 1935)
  --media-port N        port of the local media server and of the receiver's HTTP-FLV (default 8082)
  --mail-port N         port of the local mailbox, which gets every mail (default 8025)
  --kube-port N         port of the Kubernetes API (default 16443)
  --chain-port N        port of the local chain (default 8545)
  --host ADDRESS        address that the dashboard and the APIs listen on (default 127.0.0.1)
  --state-dir DIR       directory of the state (default .loopstream)
  --help                print this text

Environment variables:
  KUBEBUILDER_ASSETS    directory with etcd and kube-apiserver, to build none
  XDG_CACHE_HOME        directory of the cache for built binaries
  LOOPSTREAM_TO         the same as --to, but not visible in the process list
  LOOPSTREAM_*          settings of the API server, the operator and billing (docs/settings.md)
`;

export type LocalCommand = 'up' | 'stop' | 'reset' | 'receiver' | 'grant' | 'pay' | 'help';

export interface LocalOptions {
  command: LocalCommand;
  detach: boolean;
  media: string | undefined;
  to: string | undefined;
  demo: boolean;
  operatorOnly: boolean;
  /** All pods have the same share of the processors. */
  equalShares: boolean;
  record: boolean;
  crypto: boolean;
  /** Run on a cluster of kind. */
  kind: boolean;
  image: string | undefined;
  nodeImage: string | undefined;
  keep: boolean;
  port: number;
  rtmpPort: number;
  mediaPort: number;
  kubePort: number;
  mailPort: number;
  chainPort: number;
  host: string;
  stateDir: string | undefined;
  /** With `pay`: what is to be paid. */
  payment: Payment | undefined;
  /** With `grant`: who gets how much. */
  grant: Grant | undefined;
}

function port(name: string, text: string): number {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < 0 || value > 65_535)
    throw new ConfigError(`--${name} must be a port from 0 to 65535, not "${text}".`);
  if (!isBadPort(value)) return value;
  throw new ConfigError(
    `Browsers open no address with port ${value}, which belongs to another protocol. Choose another one: make run ARGS="--${name} ${suggestPort(value)}".`,
  );
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        detach: { type: 'boolean', default: false },
        media: { type: 'string' },
        to: { type: 'string' },
        'no-demo': { type: 'boolean', default: false },
        'operator-only': { type: 'boolean', default: false },
        'equal-shares': { type: 'boolean', default: false },
        record: { type: 'boolean', default: false },
        crypto: { type: 'boolean', default: false },
        kind: { type: 'boolean', default: false },
        image: { type: 'string' },
        'node-image': { type: 'string' },
        keep: { type: 'boolean', default: false },
        port: { type: 'string', default: '8080' },
        'rtmp-port': { type: 'string', default: '1935' },
        'media-port': { type: 'string', default: '8082' },
        'kube-port': { type: 'string', default: '16443' },
        'mail-port': { type: 'string', default: '8025' },
        'chain-port': { type: 'string', default: '8545' },
        host: { type: 'string', default: '127.0.0.1' },
        'state-dir': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('. ')[0]}. See make run ARGS="--help".`);
  }
}

function readGrant(account: string | undefined, amount: string | undefined): Grant {
  if (account !== undefined) return { account, amount };
  throw new ConfigError('grant needs the e-mail address of an account, such as: grant you@example.com.');
}

/** Reads the arguments; ConfigError says in one sentence what is wrong with them. */
export function parseLocalOptions(args: string[]): LocalOptions {
  const { values, positionals } = parse(args);
  const [command = 'up', ...more] = positionals;
  const extra = more[command === 'pay' || command === 'grant' ? 2 : 0];
  if (extra !== undefined || !['up', 'stop', 'reset', 'receiver', 'grant', 'pay'].includes(command)) {
    throw new ConfigError(`"${extra ?? command}" is not a command. See make run ARGS="--help".`);
  }
  if (values.crypto && values['operator-only'])
    throw new ConfigError('--crypto needs the API server, which --operator-only does not start. Use one of them.');
  const other = (['crypto', 'operator-only', 'equal-shares'] as const).find((name) => values[name]);
  if (values.kind && other)
    throw new ConfigError(`--${other} is for the system without kind. Leave out --kind, or --${other}.`);
  const only = (['image', 'node-image', 'keep'] as const).find((name) => values[name]);
  if (!values.kind && only) throw new ConfigError(`--${only} is for a cluster of kind. Add --kind, or leave it out.`);
  return {
    command: values.help ? 'help' : (command as LocalCommand),
    detach: values.detach,
    media: values.media,
    to: values.to,
    demo: !values['no-demo'] && !values['operator-only'],
    operatorOnly: values['operator-only'],
    equalShares: values['equal-shares'],
    record: values.record,
    crypto: values.crypto,
    kind: values.kind,
    image: values.image,
    nodeImage: values['node-image'],
    keep: values.keep,
    port: port('port', values.port),
    rtmpPort: port('rtmp-port', values['rtmp-port']),
    mediaPort: port('media-port', values['media-port']),
    kubePort: port('kube-port', values['kube-port']),
    mailPort: port('mail-port', values['mail-port']),
    chainPort: port('chain-port', values['chain-port']),
    host: values.host,
    stateDir: values['state-dir'],
    grant: command === 'grant' && !values.help ? readGrant(more[0], more[1]) : undefined,
    payment: command === 'pay' && !values.help ? readPayment(more[0], more[1]) : undefined,
  };
}

/**
 * Splits `rtmp://host/app/key` into the ingest URL and the key, as platforms print them: the key is the last segment
 * of the path. ConfigError when there is no key.
 */
export function splitTarget(to: string): { rtmpUrl: string; rtmpKey: string } {
  const match = /^((?:rtmps?):\/\/[^/]+\/.+)\/([^/]+)$/.exec(to);
  const [, rtmpUrl, rtmpKey] = match ?? [];
  if (rtmpUrl && rtmpKey) return { rtmpUrl, rtmpKey };
  throw new ConfigError('--to must be an address such as rtmp://host/app/key.');
}
