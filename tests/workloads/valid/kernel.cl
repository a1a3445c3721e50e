only its being there counts
