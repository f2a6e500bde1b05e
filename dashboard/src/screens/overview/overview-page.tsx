import { Page } from '../../parts/shell/page';
import { words } from '../../words/en';

export function OverviewPage() {
  return (
    <Page title={words.overview.title} text="">
      {null}
    </Page>
  );
}
