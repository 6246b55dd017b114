/** Declares how clients search a list by name and order it, and reads what they ask for. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import type { ListArgs, OrderOf, Searched } from '../list-page.ts';

/** Orders of every list of named things. A minus sign reverses one. */
const ORDERS = ['-createdAt', 'createdAt', 'name', '-name'] as const;

/** Parameters of a list of named things. `own` are orders of this list alone, each with its meaning. */
export const namedQuery = <const Own extends string = never>(
  nouns: string,
  own = {} as Readonly<Record<Own, string>>,
) => ({
  q: Type.Optional(Type.String({ maxLength: 200, description: `Only ${nouns} whose name contains this text.` })),
  orderBy: Type.Optional(
    Type.Enum([...ORDERS, ...(Object.keys(own) as Own[])], {
      ...(Object.keys(own).length === 0 && { title: 'ListOrder' }),
      description: [
        'Order of the list. A minus sign reverses it. Defaults to `-createdAt`, newest first.',
        ...Object.entries(own).map(([name, meaning]) => `\`${name}\`: ${meaning}.`),
      ].join(' '),
    }),
  ),
});

type By<Asked extends string> = Asked extends `-${infer Name}` ? Name : Asked;

const parseOrder = <Asked extends string>(asked: Asked): OrderOf<By<Asked>> => {
  const descending = asked.startsWith('-');
  return { by: (descending ? asked.slice(1) : asked) as By<Asked>, descending };
};

/** Adds the search and the order of a request to its page. GraphQL has its own, which is in the page already. */
export const readSearch = <Asked extends string>(
  page: ListArgs<never>,
  { q, orderBy }: { q?: string | undefined; orderBy?: Asked | undefined },
): Searched<ListArgs<By<Asked>>> => ({
  ...page,
  ...(q !== undefined && { q }),
  ...(orderBy !== undefined && { orderBy: parseOrder(orderBy) }),
});
