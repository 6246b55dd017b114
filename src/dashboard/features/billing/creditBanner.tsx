import { IconCreditCard } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Banner } from '../../ui/banner.tsx';
import { useBilling } from './queries.ts';
import { describeOutlook } from './text.ts';

/** Comes before the outlook, which says all of an account that is suspended. */
const URGENT: Readonly<Record<string, string>> = {
  low: 'Your credit is running out. ',
  exhausted: 'Your credit is used up. ',
  suspended: '',
};

/** On every page, while credit is running out or the account is suspended. */
export function CreditBanner() {
  const { data } = useBilling();
  const message = data && URGENT[data.state];
  if (!data || message === undefined) return null;
  return (
    <Banner icon={IconCreditCard} data-testid="credit-banner">
      {message}
      {describeOutlook(data)} <Link to="/billing">Billing</Link>
    </Banner>
  );
}
