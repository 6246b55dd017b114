/** Runs `loopstream admin`: manual operations of the service's staff, on the database. */
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { environment } from '../../../../core/settings/environment.ts';
import type { SecretSetting } from '../../../../core/settings/settings.ts';
import { ConfigError } from '../../../../core/settings/settings.ts';
import { createDb, createPool, type Db } from '../../../db/pool.ts';
import { listNamespaces } from '../../../settings/settings.ts';
import { readSeller } from '../../invoices/open.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { formatMinor, toCredits, toMinor } from '../../ledger/money.ts';
import { readCurrencyDigits } from '../../ledger/store.ts';
import { billingConfig } from '../../setup/settings.ts';
import type { FactSources } from '../reconcile.ts';
import { formatColumns } from './columns.ts';
import { issueCreditNote } from './credit-note.ts';
import { readFlagged } from './flagged.ts';
import { checkLedger, readStreams } from './reconcile.ts';
import { type Admin, AdminError, createAdmin, type Giving } from './service.ts';

const HELP = `loopstream admin: runs the tasks of the service's staff; each change needs a reason, and the audit log keeps it

Usage: loopstream admin grant <account> --credits 10000 --reason "welcome"
       loopstream admin refund <account> --amount 1.50 --reason "was off air on Sunday"
       loopstream admin suspend <account> --reason "abuse, case 4711"
       loopstream admin resume <account> --reason "case 4711 is closed"
       loopstream admin statement <account> [--limit 50]
       loopstream admin credit-note <invoice number> --amount 1.50 --reason "was off air on Sunday"
       loopstream admin audit [<account>] [--limit 50]
       loopstream admin flagged
       loopstream admin reconcile

<account> is an id or an e-mail address. A deleted account has only its id.

  grant        adds free credit to an account
  refund       returns charged credit to the balance; to return money, use the payment provider
  credit-note  returns credit of an invoice to the balance, and issues a credit note for it
  suspend      locks an account: its streams stop within seconds, and its requests fail with account_suspended
  resume       unlocks an account; streams that should be on air resume
  statement    lists the ledger entries of an account, newest first
  audit        lists the actions of staff, newest first
  flagged      lists accounts that need attention: suspended ones, negative balances, disputed payments, refunds of credit that
               was already used, deposits above the automatic limit, and differences that reconcile finds
  reconcile    recomputes balances, charges, top-ups, deposits and invoices from their sources, and prints each difference
               with a remedy; exits with 1 if it finds one

Options:
  --credits <n>       amount in credits
  --amount <money>    amount in the currency of the service, such as 1.50
  --reason <text>     reason; the audit log shows it, and for changes of the balance the customer's statement too
  --by <name>         name of the staff member (default: your user name on this machine)
  --key <text>        idempotency key: a repeated command with the same key books once
  --limit <n>         number of lines (default 50)
  --json              print JSON, with amounts as strings
  --help              print this text

Settings: LOOPSTREAM_DATABASE_URL, LOOPSTREAM_CURRENCY and, for credit notes, LOOPSTREAM_SELLER. The command reconcile also reads
LOOPSTREAM_PRICES for the prices, and KUBECONFIG for the time on air that pods reported.
`;

const OPTIONS = {
  credits: { type: 'string' },
  amount: { type: 'string' },
  reason: { type: 'string' },
  by: { type: 'string' },
  key: { type: 'string' },
  limit: { type: 'string', default: '50' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

const wrong = (what: string): ConfigError => new ConfigError(`${what} See loopstream admin --help.`);

/** 10^15 credits are a hundred billion of a currency: more is a slip of the finger. */
const MAX_CREDITS = 10n ** 15n;

/** Throws ConfigError unless exactly one of the two says a positive amount that is whole in its unit. */
export function parseCredits(
  { credits, amount }: { credits?: string | undefined; amount?: string | undefined },
  currency: string,
  digits: number,
): bigint {
  if ((credits === undefined) === (amount === undefined)) throw wrong('Give exactly one of --credits and --amount.');
  let found: bigint;
  if (credits !== undefined) {
    if (!/^\d{1,20}$/.test(credits)) throw wrong('--credits must be a whole number, such as 10000.');
    found = BigInt(credits);
  } else {
    const [, whole = '', fraction = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(amount ?? '') ?? [];
    if (whole === '' || fraction.length > digits)
      throw wrong(
        `--amount must be a number in ${currency} with at most ${digits} decimal digits, without the currency code.`,
      );
    found = toCredits(BigInt(whole + fraction.padEnd(digits, '0')));
  }
  if (found < 1n || found > MAX_CREDITS) throw wrong(`The amount must be from 1 to ${MAX_CREDITS} credits.`);
  return found;
}

function parse(args: string[]): { values: Values; command: string; account: string | undefined } {
  let parsed: { values: Values; positionals: string[] };
  try {
    parsed = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw wrong((error as Error).message);
  }
  const { values, positionals } = parsed;
  const [command = '', account, ...more] = positionals;
  if (values.help) return { values, command: 'help', account };
  if (!Object.hasOwn(COMMANDS, command))
    throw wrong(command === '' ? 'The command is missing.' : `"${command}" is not a command.`);
  if (more.length > 0) throw wrong(`Unexpected argument: ${more.join(' ')}.`);
  return { values, command, account };
}

interface CommandContext {
  admin: Admin;
  db: Db;
  currency: string;
  values: Values;
  account: string | undefined;
  seller: SecretSetting | undefined;
  sources: FactSources;
}

/** The result of a command: for humans, and for programs. */
interface Told {
  text: string;
  json: unknown;
  code?: number;
}

const requireAccount = ({ account }: CommandContext): string => {
  if (account === undefined) throw wrong('The account is missing. Give its id or its e-mail address.');
  return account;
};

/** The staff member and the reason. */
const requireReason = ({ values }: CommandContext) => {
  const reason = values.reason?.trim();
  if (!reason) throw wrong('--reason is missing. The audit log needs it.');
  return { reason, staff: values.by?.trim() || userInfo().username };
};

const parseLimit = ({ values }: CommandContext): number => {
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100_000)
    throw wrong('--limit must be a whole number from 1 to 100000.');
  return limit;
};

const formatAccount = ({ accountId, email }: { accountId: string; email: string | null }): string =>
  email === null ? accountId : `${email} (${accountId})`;

const give =
  (kind: Giving) =>
  async (context: CommandContext): Promise<Told> => {
    const { currency, values, admin, db } = context;
    const digits = await readCurrencyDigits(db, currency);
    const worth = (credits: bigint) => `${credits} credits (${formatMinor(toMinor(credits), currency, digits)})`;
    const credits = parseCredits(values, currency, digits);
    const given = await admin.give(kind, requireAccount(context), {
      credits,
      key: values.key,
      ...requireReason(context),
    });
    const did = given.done ? `Booked a ${kind} of` : `This key has already booked a ${kind} of`;
    const text = `${did} ${worth(credits)} for ${formatAccount(given)}; the balance is ${worth(given.balance)}. Key: ${given.key}\n`;
    return { text, json: given };
  };

async function creditNote(context: CommandContext): Promise<Told> {
  const { account: number, currency, values, db } = context;
  if (number === undefined) throw wrong('The invoice is missing. Give its number.');
  const { seller, ...by } = { seller: await readSeller(context.seller), ...requireReason(context) };
  if (!seller) throw wrong('LOOPSTREAM_SELLER is not set. A credit note needs its sender.');
  const credits = parseCredits(values, currency, await readCurrencyDigits(db, currency));
  const note = await issueCreditNote({ db, seller, currency }, { number, credits, key: values.key, ...by });
  const text = `Issued ${note.number}: returned ${credits} credits of invoice ${number}. Key: ${note.key}\n`;
  return { text, json: note };
}

const setLocked =
  (locked: boolean) =>
  async (context: CommandContext): Promise<Told> => {
    const set = await context.admin.setLocked(locked, requireAccount(context), requireReason(context));
    const state = locked ? 'suspended' : 'not suspended';
    return {
      text: `${formatAccount(set)} is ${state}${set.done ? '' : ', as it was before'}.\n`,
      json: { ...set, state },
    };
  };

async function statement(context: CommandContext): Promise<Told> {
  const found = await context.admin.statement(requireAccount(context), parseLimit(context));
  const lines = found.entries.map((entry) => [
    String(entry.number),
    entry.at,
    entry.kind,
    entry.credits,
    entry.balanceCredits,
    entry.reason ?? entry.streamID ?? entry.reference ?? '',
  ]);
  const table = formatColumns([['number', 'at', 'kind', 'credits', 'balance', 'for'], ...lines]);
  return { text: `${formatAccount(found)}: ${found.balance} credits\n${table}`, json: found };
}

async function audit(context: CommandContext): Promise<Told> {
  const deeds = await context.admin.audit(context.account, parseLimit(context));
  const lines = deeds.map(({ at, staff, action, account_id, credits, reason }) => [
    at.toISOString(),
    staff,
    action,
    account_id,
    String(credits ?? ''),
    reason,
  ]);
  const text = formatColumns([['at', 'by', 'action', 'account', 'credits', 'reason'], ...lines]);
  return { text, json: deeds };
}

async function flagged({ db }: CommandContext): Promise<Told> {
  const found = await readFlagged(db);
  const lines = found.flatMap(({ accountId, email, flags }) =>
    flags.map(({ flag, details }) => [accountId || '-', email ?? '-', flag, details]),
  );
  const text =
    lines.length === 0 ? 'No account is flagged.\n' : formatColumns([['account', 'e-mail', 'flag', 'why'], ...lines]);
  return { text, json: found };
}

const COMMANDS: Record<string, (context: CommandContext) => Promise<Told>> = {
  grant: give('grant'),
  refund: give('refund'),
  'credit-note': creditNote,
  suspend: setLocked(true),
  resume: setLocked(false),
  statement,
  audit,
  flagged,
  reconcile: ({ db, sources }) => checkLedger(db, sources),
};

/** In JSON, amounts are texts: they have more digits than a double. */
const asJson = (value: unknown): string =>
  `${JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one), 2)}\n`;

/** Answers the exit code: 1 when it was refused, or when something differs. Throws ConfigError for what makes no sense. */
export async function runAdmin(
  args: string[],
  {
    open,
    currency,
    seller,
    sources = {},
    print,
    complain,
  }: {
    open: () => Db;
    currency: string;
    /** The sender of credit notes. */
    seller?: SecretSetting | undefined;
    /** Facts to compare that are not in the database. */
    sources?: FactSources;
    print: (text: string) => void;
    complain: (text: string) => void;
  },
): Promise<number> {
  const { values, command, account } = parse(args);
  if (command === 'help') {
    print(HELP);
    return 0;
  }
  const db = open();
  const admin = createAdmin({ db, ledger: createLedger(db) });
  try {
    const result = await (COMMANDS[command] as (context: CommandContext) => Promise<Told>)({
      admin,
      db,
      currency,
      values,
      account,
      seller,
      sources,
    });
    print(values.json ? asJson(result.json) : result.text);
    return result.code ?? 0;
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    complain(values.json ? asJson({ error: error.message }) : `loopstream: ${error.message}\n`);
    return 1;
  } finally {
    await db.destroy();
  }
}

const POOL = { searchPath: 'loopstream', max: 2 };
const OUTPUT = {
  print: (text: string) => void process.stdout.write(text),
  complain: (text: string) => void process.stderr.write(text),
};

export async function adminCommand(args: string[]): Promise<number> {
  // Before the settings: a mistyped command is reported first.
  const { command } = parse(args);
  const env = environment();
  if (command === 'help')
    return runAdmin(args, { ...OUTPUT, open: () => createDb(createPool('', POOL)), currency: '' });
  const config = billingConfig(env);
  const { databaseUrl, currency, seller, prices, kubeconfig } = config;
  // Not the cluster that somebody happens to have in ~/.kube/config.
  const isTold = kubeconfig !== undefined || env.KUBERNETES_SERVICE_HOST !== undefined;
  const streams = () => readStreams(kubeconfig, listNamespaces(config));
  return runAdmin(args, {
    ...OUTPUT,
    open: () => createDb(createPool(databaseUrl, POOL)),
    currency,
    seller,
    sources: { currency, prices, ...(isTold && { streams }) },
  });
}
