/** Tools: top-ups by card. An agent makes the link; a person pays. */

import { TopUp, TopUpCreate, type TopUp as TopUpRecord } from '../../billing/cards/record.ts';
import type { TopUpService } from '../../billing/cards/service.ts';
import { flatten, listOf } from '../../lib/paging/list.ts';
import { idOf, PAGE, pageOf, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const sayTopUp = ({ id, state, checkoutUrl }: TopUpRecord): string =>
  checkoutUrl === null ? `Top-up ${id} is ${state}.` : `Top-up ${id} is ${state}: a person pays it at ${checkoutUrl}`;

export const topUpTools = (topUps: TopUpService): Tool[] => [
  tool({
    name: 'create_top_up',
    title: 'Make a link to top up',
    description:
      'Answers the address of a page of the payment provider, to be given to the person: a card is given there and nowhere else. What is paid is credited within seconds; get_top_up tells when it was.',
    operations: ['createTopUp'],
    ...{ body: TopUpCreate, output: TopUp, keyed: true, reachesOut: true },
    say: sayTopUp,
    run: ({ principal }, _own, body) => topUps.create(principal, body),
  }),
  tool({
    name: 'list_top_ups',
    title: 'List top-ups',
    description: 'Top-ups by card, newest first.',
    operations: ['listTopUps'],
    ...{ own: PAGE, output: listOf(TopUp, 'TopUpList') },
    say: sayPage,
    run: async ({ principal }, page) => flatten(await topUps.list(principal, pageOf(page))),
  }),
  tool({
    name: 'get_top_up',
    title: 'Look at a top-up',
    description: 'One top-up by card: whether it has been paid.',
    operations: ['getTopUp'],
    ...{ own: idOf('Top-up id, as list_top_ups tells it.'), output: TopUp },
    say: sayTopUp,
    run: ({ principal }, { id }) => topUps.get(principal, id),
  }),
];
