export { ModelCatalog } from '../../providers/models/model-catalog.js';
