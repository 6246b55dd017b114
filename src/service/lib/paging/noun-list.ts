/**
 * Declares the list of a noun once: what it can be filtered by and sorted by. The query of REST, the arguments of GraphQL and MCP, and
 * the filter itself follow from this table. Pure: no I/O, no clock.
 */
import { type Static, type TArray, type TObject, type TOptional, type TString, Type } from 'typebox';
import { validationFailed } from '../errors.ts';
import { fulfils, parseSelector, SelectorError } from '../label-selector.ts';
import type { FilteredArgs, LabelRequirement, ListArgs, ListFilter, Order, OrderOf } from '../list-page.ts';
import { Time } from '../schemas.ts';
import { type ListPlace, nameKey } from './connection.ts';

/** An order of its own, besides `createdAt` and `name`. */
export interface Sort<T> {
  /** Follows the name of the order in descriptions. */
  meaning?: string;
  /** Returns a text that compares like the value it stands for. */
  key: (item: T, now: Date) => string;
}

export interface NounList<T> {
  /** Names the objects in descriptions: `streams`. */
  nouns: string;
  getId: (item: T) => string;
  /** In RFC 3339 and UTC, with the same number of digits for all. Kubernetes writes whole seconds. */
  getCreatedAt: (item: T) => string;
  /** A noun without it has no `q` and no order by name. */
  getName?: (item: T) => string;
  /** Field that holds the name, where that is not `name`. */
  nameIs?: string;
  getLabel?: (item: T, name: string) => string | undefined;
  /** `title` names the enum of the values. */
  state?: { title: string; values: readonly string[]; get: (item: T, now: Date) => string };
  type?: { title: string; values: readonly string[]; get: (item: T) => string };
  sorts?: Readonly<Record<string, Sort<T>>>;
  /** False for an item that lists leave out. */
  isListed?: (item: T) => boolean;
  /** True where state or sort keys of the item change with time alone. */
  isTimed?: (item: T) => boolean;
}

/** An amount as a text that compares like it. Unknown amounts come first. */
export const amountKey = (amount: number | null): string =>
  amount === null ? '' : amount.toFixed(3).padStart(24, '0');

/** Selectors of one request. */
const MAX_SELECTORS = 10;

/** The parts of a list that do not depend on its items. */
export type ListWords = Pick<NounList<never>, 'sorts' | 'getName' | 'nameIs'>;

/** Returns the orders besides `createdAt`. */
export const listSorts = ({ sorts = {}, getName, nameIs = 'name' }: ListWords): string[] => [
  ...(getName ? [nameIs] : []),
  ...Object.keys(sorts).filter((name) => name !== 'createdAt'),
];

const listOrders = (list: ListWords): string[] => [
  '-createdAt',
  'createdAt',
  ...listSorts(list).flatMap((name) => [name, `-${name}`]),
];

/** The query of a list. A noun without states or types has no such parameter. */
type ListProperties = Record<'q' | 'state' | 'type' | 'createdAfter' | 'createdBefore' | 'sort', TOptional<TString>> & {
  label: TOptional<TArray<TString>>;
};
type FilterQuery = Static<TObject<ListProperties>>;

type Choices = { title: string; values: readonly string[] } | undefined;

/** Agents read all of it at the beginning of each conversation, so theirs is short. */
const WORDS = {
  full: (nouns: string, name: string) => ({
    q: `Only ${nouns} whose ${name} contains this text.`,
    label: 'Label selector in the words of `kubectl get -l`, e.g. `team=news`. Given several times, all must hold.',
    state: `Only ${nouns} in this state.`,
    type: `Only ${nouns} of this type.`,
    createdAfter: `Only ${nouns} that were created after this time.`,
    createdBefore: `Only ${nouns} that were created before this time.`,
    sort: 'Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first.',
  }),
  short: () => ({
    q: undefined,
    label: 'As of `kubectl get -l`.',
    state: undefined,
    type: undefined,
    createdAfter: undefined,
    createdBefore: undefined,
    sort: undefined,
  }),
};

/** Returns the parameters that filter and sort a list. */
export function listQuery<T>(list: NounList<T>, words: keyof typeof WORDS = 'full'): ListProperties {
  const { nouns, getName, nameIs = 'name', getLabel, state, type, sorts = {} } = list;
  const said = WORDS[words](nouns, nameIs);
  const describe = (name: keyof typeof said) => (said[name] === undefined ? {} : { description: said[name] });
  const meanings = Object.entries(sorts).flatMap(([name, { meaning }]) =>
    meaning === undefined || words === 'short' ? [] : [`\`${name}\`: ${meaning}.`],
  );
  const sorting = [said.sort, ...meanings].filter((sentence) => sentence !== undefined).join(' ');
  const choice = (name: 'state' | 'type', choices: Choices) =>
    choices && {
      [name]: Type.Optional(
        Type.Enum([...choices.values], { type: 'string', title: choices.title, ...describe(name) }),
      ),
    };
  return {
    ...(getName && { q: Type.Optional(Type.String({ maxLength: 200, ...describe('q') })) }),
    ...(getLabel && {
      label: Type.Optional(
        Type.Array(Type.String({ maxLength: 1000 }), { maxItems: MAX_SELECTORS, ...describe('label') }),
      ),
    }),
    ...choice('state', state),
    ...choice('type', type),
    createdAfter: Type.Optional({ ...Time, ...describe('createdAfter') }),
    createdBefore: Type.Optional({ ...Time, ...describe('createdBefore') }),
    sort: Type.Optional(
      Type.Enum(listOrders(list as ListWords), {
        type: 'string',
        ...(sorting !== '' && { description: sorting }),
      }),
    ),
  } as unknown as ListProperties;
}

/** Filters of some list, and the names that other interfaces have for them, in lower case. */
const FILTER_WORDS: ReadonlySet<string> = new Set([
  ...['q', 'label', 'state', 'status', 'type', 'createdafter', 'createdbefore', 'sort'],
  ...['search', 'filter', 'where', 'labels', 'labelselector', 'fieldselector', 'order', 'orderby', 'sortby', 'sort_by'],
]);

/** Whether a client that sends such a parameter means a filter: without it, the list would pass for the filtered one. */
export const namesFilter = (parameter: string): boolean => FILTER_WORDS.has(parameter.toLowerCase());

function parseLabels(selectors: readonly string[]): LabelRequirement[] {
  try {
    return selectors.flatMap(parseSelector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw validationFailed([{ path: '/label', message: error.message }]);
  }
}

function parseOrder(sort: string): Order {
  const descending = sort.startsWith('-');
  return { by: descending ? sort.slice(1) : sort, descending };
}

/** Adds the order of a request to its page. GraphQL may have an order in the page already. */
export function readSort<By extends string>(page: ListArgs<By>, sort: string | undefined): ListArgs<By> {
  if (sort === undefined) return page;
  if (page.orderBy) throw validationFailed([{ path: '/sort', message: 'cannot be given together with orderBy' }]);
  return { ...page, orderBy: parseOrder(sort) as OrderOf<By> };
}

/** Adds the filter and the order of a request to its page. */
export function readListing(page: ListArgs<never>, { sort, label, ...filter }: FilterQuery): FilteredArgs {
  const labels = label && parseLabels(label);
  const asked: ListFilter = { ...pickFilter(filter), ...(labels && labels.length > 0 && { labels }) };
  return {
    ...readSort<string>(page, sort),
    ...(Object.keys(asked).length > 0 && { filter: asked }),
  };
}

/** Other parameters of a list are no filter of every noun. */
function pickFilter(query: Omit<ListFilter, 'labels'>): ListFilter {
  const { q, state, type, createdAfter, createdBefore } = query;
  const given = Object.entries({ q, state, type, createdAfter, createdBefore });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Returns the place of an item in an order. */
export function placeOf<T>(list: NounList<T>, by: string, now: Date): (item: T) => ListPlace {
  const { getId, getCreatedAt, getName, nameIs = 'name', sorts = {} } = list;
  const sort = sorts[by];
  if (by === 'createdAt' && !sort) return (item) => ({ key: getCreatedAt(item), id: getId(item) });
  if (by === nameIs && getName) return (item) => ({ key: nameKey(getName(item)), id: getId(item) });
  if (!sort) throw new TypeError(`${list.nouns} have no order ${by}.`);
  return (item) => ({ key: sort.key(item, now), id: getId(item) });
}

/** Returns the test of a filter. */
export function createTest<T>(list: NounList<T>, filter: ListFilter, now: Date): (item: T) => boolean {
  const { q, labels = [], state, type, createdAfter, createdBefore } = filter;
  const wanted = q === undefined ? undefined : nameKey(q);
  const [after, before] = [createdAfter, createdBefore].map((time) => (time === undefined ? NaN : Date.parse(time)));
  const isInTime = (item: T): boolean => {
    const createdAt = Date.parse(list.getCreatedAt(item));
    return !(createdAt <= (after ?? NaN)) && !(createdAt >= (before ?? NaN));
  };
  return (item) =>
    list.isListed?.(item) !== false &&
    (type === undefined || list.type?.get(item) === type) &&
    (state === undefined || list.state?.get(item, now) === state) &&
    labels.every((requirement) => fulfils(list.getLabel?.(item, requirement.name), requirement)) &&
    (wanted === undefined || nameKey(list.getName?.(item) ?? '').includes(wanted)) &&
    ((createdAfter === undefined && createdBefore === undefined) || isInTime(item));
}

/** Whether the filter, or the order, reads what may change with time alone. */
export const readsTime = <T>({ sorts = {} }: NounList<T>, filter: ListFilter, by: string): boolean =>
  filter.state !== undefined || Object.hasOwn(sorts, by);
