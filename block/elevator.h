	unsigned int min_requests;	/* for each hardware queue, at least */
