/** Lists the commands of the plugin: help, completion and the parser come from this table. Each loads only its own code. */
import type { Command, CommandRun, Flags, FlagValues, Invocation } from './shell/call.ts';

/** The flags by which kubectl chooses a cluster. They stand behind `kubectl loop`, as those of every plugin. */
export const CLUSTER_FLAGS = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAMESPACE',
    description: 'namespace of the objects',
    names: 'namespaces',
  },
  context: { type: 'string', value: 'CONTEXT', description: 'context of the kubeconfig' },
  kubeconfig: { type: 'string', value: 'FILE', description: 'kubeconfig to use instead of KUBECONFIG' },
} as const satisfies Flags;

export const HELP_FLAG = {
  help: { type: 'boolean', short: 'h', description: 'show this help' },
} as const satisfies Flags;

const WAIT_FLAGS = {
  wait: { type: 'boolean', description: 'wait until it is so; status 1 if it is not in time' },
  timeout: { type: 'string', value: 'TIME', description: 'longest wait, such as 90s; 5m by default' },
} as const satisfies Flags;

type ValuesOf<F extends Flags> = { [Name in keyof F]?: F[Name]['type'] extends 'boolean' ? boolean : string };

/** Checks that a command's code takes the flags that the table gives it. */
const command = <const F extends Flags>(
  spec: Omit<Command, 'flags' | 'load'> & {
    flags: F;
    load: () => Promise<(call: Invocation<ValuesOf<F> & FlagValues>) => Promise<number>>;
  },
): Command => ({ ...spec, load: spec.load as () => Promise<CommandRun<never>> });

export const COMMANDS: Readonly<Record<string, Command>> = {
  status: command({
    summary: 'show which streams are on air, and why the others are not',
    usage: '[NAME...]',
    details:
      'SINCE counts from the begin of the state, or of the problem that WHY names. Streams that are\nidle, stopped or ended are counted in one line.',
    examples: ['kubectl loop status', 'kubectl loop status -A -w', 'kubectl loop status -l team=news -o json'],
    arguments: { min: 0, max: Number.POSITIVE_INFINITY, names: 'streams' },
    flags: {
      all: { type: 'boolean', description: 'also a row for each stream that is idle, stopped or ended' },
      'all-namespaces': { type: 'boolean', short: 'A', description: 'streams of all namespaces' },
      selector: { type: 'string', short: 'l', value: 'SELECTOR', description: 'streams with these labels' },
      output: {
        type: 'string',
        short: 'o',
        value: 'FORMAT',
        values: ['table', 'wide', 'json', 'yaml'],
        description: 'table, wide, json or yaml',
      },
      watch: { type: 'boolean', short: 'w', description: 'go on, with a row for each change' },
    },
    load: async () => (await import('./streams/status.ts')).showStatus,
  }),
  diagnose: command({
    summary: 'explain what is wrong with a stream or what it is made of, and how to fix it',
    usage: 'NAME | upload/NAME | playlist/NAME | destination/NAME',
    details: 'NAME is a stream, or begins with upl-, pls- or dst-. The exit status is 1 where something is wrong.',
    examples: ['kubectl loop diagnose evening', 'kubectl loop diagnose upload/film', 'kubectl loop diagnose dest/tv'],
    arguments: { min: 1, max: 1, names: 'objects' },
    flags: {},
    load: async () => (await import('./diagnose/command.ts')).diagnose,
  }),
  logs: command({
    summary: 'print the log of a stream, or of the preparation of an upload',
    usage: 'NAME | --prepare UPLOAD',
    examples: [
      'kubectl loop logs evening -f',
      'kubectl loop logs evening --previous',
      'kubectl loop logs --prepare film',
    ],
    arguments: { min: 0, max: 1, names: 'streams' },
    flags: {
      follow: { type: 'boolean', short: 'f', description: 'go on with what comes' },
      previous: { type: 'boolean', short: 'p', description: 'log before the last restart' },
      prepare: { type: 'string', value: 'UPLOAD', description: 'log of the Job of this upload', names: 'uploads' },
      tail: { type: 'string', value: 'LINES', description: 'only the last lines' },
    },
    load: async () => (await import('./streams/logs.ts')).printLogs,
  }),
  start: command({
    summary: 'put streams on air',
    usage: 'NAME...',
    examples: ['kubectl loop start evening --wait'],
    arguments: { min: 1, max: Number.POSITIVE_INFINITY, names: 'streams' },
    flags: WAIT_FLAGS,
    load: async () => (await import('./streams/power.ts')).startStreams,
  }),
  stop: command({
    summary: 'take streams off air',
    usage: 'NAME...',
    details: 'On a terminal it asks before it ends what viewers see. A script is not asked.',
    examples: ['kubectl loop stop evening --wait', 'kubectl loop stop evening --dry-run'],
    arguments: { min: 1, max: Number.POSITIVE_INFINITY, names: 'streams' },
    flags: {
      ...WAIT_FLAGS,
      yes: { type: 'boolean', short: 'y', description: 'do not ask' },
      'dry-run': {
        type: 'string',
        value: 'HOW',
        bare: 'server',
        values: ['server', 'client', 'none'],
        description: 'say what would be taken off air, and change nothing',
      },
    },
    load: async () => (await import('./streams/power.ts')).stopStreams,
  }),
  skip: command({
    summary: 'skip to the next item of a stream on air',
    usage: 'NAME',
    examples: ['kubectl loop skip evening', 'kubectl loop skip evening --audio'],
    arguments: { min: 1, max: 1, names: 'streams' },
    flags: { audio: { type: 'boolean', description: 'the next item of the audio list' } },
    load: async () => (await import('./streams/requests.ts')).skipItem,
  }),
  timeline: command({
    summary: 'print what a stream on air plays when',
    usage: 'NAME',
    details: 'A time with ~ before it is an estimate, since an item before it is still being prepared.',
    examples: [
      'kubectl loop timeline evening',
      'kubectl loop timeline evening --from 2027-01-31T18:00:00Z --to 2027-02-01T18:00:00Z -o xmltv',
    ],
    arguments: { min: 1, max: 1, names: 'streams' },
    flags: {
      audio: { type: 'boolean', description: 'the audio list' },
      from: { type: 'string', value: 'TIME', description: 'begin; now by default' },
      to: { type: 'string', value: 'TIME', description: 'end; a day later by default, 14 days at most' },
      output: {
        type: 'string',
        short: 'o',
        value: 'FORMAT',
        values: ['table', 'json', 'csv', 'ics', 'xmltv'],
        description: 'table, json, csv, ics or xmltv',
      },
    },
    load: async () => (await import('./streams/timeline.ts')).showTimeline,
  }),
  explain: command({
    summary: 'say why a rule or an upload plays at a time, or does not',
    usage: 'NAME (--rule RULE | --upload UPLOAD)',
    details:
      'The decision is that by which the stream plays: what was on air instead, when the rule is due, what to change.',
    examples: [
      'kubectl loop explain evening --rule news --at 2027-01-31T09:00:00Z',
      'kubectl loop explain evening --upload film -o json',
    ],
    arguments: { min: 1, max: 1, names: 'streams' },
    flags: {
      at: { type: 'string', value: 'TIME', description: 'time to explain; now by default' },
      rule: { type: 'string', value: 'RULE', description: 'rule of a playlist of the stream' },
      upload: { type: 'string', value: 'UPLOAD', description: 'upload that the stream plays', names: 'uploads' },
      audio: { type: 'boolean', description: 'the audio list' },
      output: {
        type: 'string',
        short: 'o',
        value: 'FORMAT',
        values: ['text', 'json'],
        description: 'text or json',
      },
    },
    load: async () => (await import('./streams/explain.ts')).explainTime,
  }),
  test: command({
    summary: 'publish to a destination for a moment, and say whether it accepted',
    usage: 'DESTINATION',
    details: 'The exit status is 1 where the test failed. No test runs while a stream is on air to the destination.',
    examples: ['kubectl loop test tv'],
    arguments: { min: 1, max: 1, names: 'destinations' },
    flags: {},
    load: async () => (await import('./streams/requests.ts')).testDestination,
  }),
  retry: command({
    summary: 'fetch the link of a failed upload again',
    usage: 'UPLOAD',
    examples: ['kubectl loop retry film'],
    arguments: { min: 1, max: 1, names: 'uploads' },
    flags: {},
    load: async () => (await import('./streams/requests.ts')).retryUpload,
  }),
  'support-bundle': command({
    summary: 'write an archive for support, without secrets',
    usage: '',
    details:
      'It has resources, events, logs and versions. It reads no Secret. Of addresses it keeps the\nhost alone, and of environment variables the names.\n' +
      'Its logs are bounded: 5,000 lines of a container, 100 pods, 64 MiB.',
    examples: ['kubectl loop support-bundle -n tv', 'kubectl loop support-bundle -A -o bundle.tar.gz'],
    arguments: { min: 0, max: 0 },
    flags: {
      'all-namespaces': { type: 'boolean', short: 'A', description: 'streams of all namespaces' },
      output: {
        type: 'string',
        short: 'o',
        value: 'FILE',
        description: 'file to write, which must not exist; - is standard output',
      },
    },
    load: async () => (await import('./bundle/command.ts')).writeBundle,
  }),
  version: command({
    summary: 'print the versions of the plugin, Kubernetes and the operator',
    usage: '',
    arguments: { min: 0, max: 0 },
    flags: { client: { type: 'boolean', description: 'only the version of the plugin' } },
    load: async () => (await import('./about/version.ts')).printVersions,
  }),
  completion: command({
    summary: 'explain how to install the completion of the shell',
    usage: '',
    arguments: { min: 0, max: 0 },
    flags: {},
    isLocal: true,
    load: async () => (await import('./about/completion.ts')).explainCompletion,
  }),
};
