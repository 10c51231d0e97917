	q->nr_requests = max_t(unsigned long, q->nr_requests, e->min_requests);
