import icon from '../theme/icon.svg';
import { words } from '../words/en';
import styles from './brand.module.css';

/** The product's mark and name. */
export function Brand({ isIconOnly = false }: { isIconOnly?: boolean }) {
  return (
    <span className={styles.brand}>
      <img src={icon} width={20} height={20} alt={isIconOnly ? words.product : ''} />
      {!isIconOnly && words.product}
    </span>
  );
}
