import { IconCreditCard } from '@tabler/icons-react';
import { useLocation } from '@tanstack/react-router';
import { Banner } from '../../ui/banner.tsx';
import { NextStep } from './nextStep.tsx';
import { useBilling } from './queries.ts';
import { describeOutlook } from './text.ts';

/** Comes before the outlook, which says all of the other states. */
const URGENT: Readonly<Record<string, string>> = {
  low: 'Your credit is running out. ',
  exhausted: '',
  suspended: '',
};

/** On every page but that of the balance, which says the same, while there is little credit or none, or the account is suspended. */
export function CreditBanner() {
  const { data } = useBilling();
  const isSaid = useLocation({ select: ({ pathname }) => pathname === '/billing' });
  const message = data && URGENT[data.state];
  if (!data || message === undefined || isSaid) return null;
  return (
    <Banner icon={IconCreditCard} data-testid="credit-banner">
      {message}
      {describeOutlook(data)} <NextStep billing={data} />
    </Banner>
  );
}
